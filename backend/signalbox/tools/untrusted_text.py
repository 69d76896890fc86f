"""Cleans untrusted text: removes invisible characters and control tokens of models (quirk G3)."""

import re
import unicodedata

# Control characters, invisible characters, direction marks and lone surrogates.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs"})
# Some models treat <|im_start|> and similar texts as control tokens.
_TOKENS = re.compile(r"<\||\|>")


def visible_line(text: str, longest: int) -> str:
    """Return untrusted text as one line of at most `longest` visible characters."""
    visible = "".join(" " if c.isspace() else "" if _is_invisible(c) else c for c in text[: longest * 4])
    line = " ".join(_without_tokens(visible).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def visible_text(text: str) -> str:
    """Return untrusted text with its line breaks, without trailing spaces and repeated empty lines."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii() or not text.isprintable():
        text = "".join(c for c in text if c in "\n\t" or not _is_invisible(c))
    lines = "\n".join(line.rstrip() for line in _without_tokens(text).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).strip("\n")


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in _INVISIBLE


def _without_tokens(text: str) -> str:
    return _TOKENS.sub(lambda match: " ".join(match[0]), text)
