"""Reads another option and takes a part of it over, as in "take the header of option 2"."""

import re
from typing import Any

from ..json_values import as_objects
from .changes import Change, with_colours
from .looks import LOOKS

_OPTION = re.compile(r"\b(?:option|variant|version|answer)\s*(?:no\.?\s*|number\s*|#)?(\d{1,2})\b", re.IGNORECASE)
_COMPARES = re.compile(r"\b(?:compare|difference|differ|better|versus|vs)\b", re.IGNORECASE)
_PARTS = (
    (
        re.compile(r"\b(?:hero|top section)\b", re.IGNORECASE),
        r'<section class="hero".*?</section>',
        "hero",
    ),
    (re.compile(r"\b(?:header|navigation|menu)\b", re.IGNORECASE), r"<header.*?</header>", "header"),
    (re.compile(r"\b(?:heading|headline|title)\b", re.IGNORECASE), r"<h1.*?</h1>", "heading"),
    (re.compile(r"\bfooter\b", re.IGNORECASE), r"<footer.*?</footer>", "footer"),
    (re.compile(r"\bquote\b", re.IGNORECASE), r'<section class="quote".*?</section>', "quote"),
)


def option_in(question: str) -> int | None:
    """Return the number of the option that a message names, None if it names none."""
    found = _OPTION.search(question)
    return int(found[1]) if found else None


def compares(question: str) -> bool:
    """Return whether a message asks to compare, and not to change anything."""
    return bool(_COMPARES.search(question))


def page_in(value: dict[str, Any]) -> str:
    """Return the first HTML file of a result of retrieve_option, or ""."""
    files = as_objects(value.get("files"))
    found = (str(one["content"]) for one in files if str(one.get("path", "")).endswith(".html") and "content" in one)
    return next(found, "")


def taken_over(question: str, other: str, text: str, number: int) -> Change | None:
    """Return the change that takes a part of another page over: the part that a message names, else its colours."""
    for asked, pattern, name in _PARTS:
        if asked.search(question):
            theirs, ours = (re.search(pattern, one, re.DOTALL) for one in (other, text))
            if theirs and ours and theirs[0] != ours[0]:
                return Change(((ours[0], theirs[0]),), f"The {name} is now that of option {number}")
            return None
    names = LOOKS[0].colours()
    values = {name: found[1] for name in names if (found := re.search(rf"{name}: ([^;\n]+);", other))}
    edits = tuple((old, new) for old, new in with_colours(text, values) if old != new)
    return Change(edits, f"The colours are now those of option {number}") if edits else None


def compared(text: str, other: str, number: int) -> str:
    """Return a comparison of two pages in words."""
    lines = [f"| | this option | option {number} |", "|---|---|---|"]
    for label, pattern in (("heading", r"<h1[^>]*>(.*?)</h1>"), ("accent colour", r"--accent: ([^;\n]+);")):
        pair = [found[1].strip() if (found := re.search(pattern, one, re.DOTALL)) else "–" for one in (text, other)]
        lines.append(f"| {label} | {pair[0]} | {pair[1]} |")
    lines.append(f"| sections | {text.count('<section')} | {other.count('<section')} |")
    lines.append(f"| lines | {text.count(chr(10))} | {other.count(chr(10))} |")
    return "\n".join(lines)
