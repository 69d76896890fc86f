"""Splits HTML into tokens, in linear time for any input.

`html.parser` is quadratic: 150 kB of `<a ` take it three minutes. Here every construct extends to its end or to the end
of the text, as in the HTML standard, and no text is scanned twice.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Open:
    """A start tag; names are in lower case, and the first of repeated attributes counts."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Close:
    """An end tag."""

    name: str


Token: TypeAlias = Open | Close | str

# Possessive quantifiers, so that nothing backtracks. A quote counts only after "=".
_TAG = re.compile(
    r"""<(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]{0,63}+)"""
    r"""(?P<rest>(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+)>"""
)
_TAG_START = re.compile("</?[a-zA-Z]")
_ATTRIBUTE = re.compile(r"""([^\s/=>"']++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]++)))?+""")
# Elements whose text contains no tags.
_RAW = frozenset({"script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"})
_RAW_ENDS = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in _RAW}


def tokens(text: str) -> Iterator[Token]:
    """Yield start tags, end tags and text with resolved character references; omits comments."""
    at, end = 0, len(text)
    while at < end:
        start = text.find("<", at)
        if start < 0:
            start = end
        if start > at:
            yield plain(text[at:start])
        at = start
        if start < end:
            token, at = _markup(text, start)
            if token is not None:
                yield token
            if isinstance(token, Open) and token.name in _RAW:
                found = _RAW_ENDS[token.name].search(text, at)
                yield plain(text[at : found.start() if found else end])
                at = found.start() if found else end


def _markup(text: str, start: int) -> tuple[Token | None, int]:
    """Parse markup that starts with "<"; an unfinished tag or comment extends to the end of the text."""
    if text.startswith("<!--", start):
        return None, _after(text, "-->", start + 4)
    if not _TAG_START.match(text, start):
        is_markup = text.startswith(("<!", "<?", "</"), start)
        return (None, _after(text, ">", start + 2)) if is_markup else ("<", start + 1)
    match = _TAG.match(text, start)
    if match is None:
        return None, len(text)
    name = match["name"].lower()
    return Close(name) if match["end"] else Open(name, _attributes(match["rest"])), match.end()


def _after(text: str, mark: str, start: int) -> int:
    found = text.find(mark, start)
    return len(text) if found < 0 else found + len(mark)


def _attributes(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    if text:
        for match in _ATTRIBUTE.finditer(text[:20_000]):
            value = next((group for group in match.groups()[1:] if group is not None), "")
            found.setdefault(match[1].lower(), plain(value))
    return found


# Python rejects numbers of more than 4,300 digits, which html.unescape would try to parse.
_ENDLESS = re.compile(r"&#(?:[xX][0-9a-fA-F]{7,}+|[0-9]{8,}+);?")


def plain(text: str) -> str:
    """Resolve character references."""
    return html.unescape(_ENDLESS.sub("\ufffd", text)) if "&" in text else text
