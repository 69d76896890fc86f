"""Decodes a web page in the character set that it declares or that can be detected."""

import codecs
import re

_NAMED = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
# Python also has codecs that are not character sets, and slow ones (idna, punycode, unicode_escape, utf-7).
_KNOWN = ("utf-8", "utf-16", "cp125", "cp866", "cp932", "cp949", "iso8859", "iso2022_jp", "koi8", "gb", "big5", "euc_",
          "shift_jis", "tis-620", "mac-cyrillic")  # fmt: skip
# As in browsers: Latin-1 and ASCII mean Windows-1252, GB2312 means its superset.
_READ_AS = {"ascii": "cp1252", "iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}


def decoded(body: bytes, content_type: str, *, is_html: bool) -> str:
    """Decode a body by its byte order mark, header or meta tag, else as UTF-8, else as Windows-1252."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body.decode(name, "replace")
    declared = _declared_charset(content_type) or (
        _declared_charset(body[:2048].decode("latin-1")) if is_html else None
    )
    if declared is not None:
        return body.decode(declared, "replace")
    try:
        # Incremental, because the body may have been cut inside a character.
        return codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _declared_charset(text: str) -> str | None:
    match = _NAMED.search(text)
    try:
        name = codecs.lookup(match[1]).name if match else ""
    except LookupError:
        return None
    name = _READ_AS.get(name, name)
    return name if name.startswith(_KNOWN) else None
