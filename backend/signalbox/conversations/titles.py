"""Titles: the first words of the first question, without a model's help."""

import re

LONGEST = 60
# Links and images, of which the text stays; markup at the start of a line; markup around words.
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_AT_START = re.compile(
    r"^[ \t]*(?:(?:#{1,6}|>|[-*+]|\d{1,9}[.)])[ \t]+|>|`{3,}\w*|~{3,}\w*|(?:[-*_=][ \t]*){3,}$)+", re.MULTILINE
)
# Possessive and anchored at the first of a row: otherwise a long row of _ takes quadratic time.
_AROUND = re.compile(r"(?<!\w)\*+(?=\S)|(?<=\S)\*+(?!\w)|~~+|`+|(?<!\w)_+|(?<!_)_++(?!\w)")
# Control and invisible characters.
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def title_of(text: str) -> str:
    """Return the first whole words without markup, at most LONGEST characters; a longer first word is cut."""
    # Text this far behind cannot reach the title, however much markup is removed.
    bare = _AROUND.sub("", _AT_START.sub("", _LINK.sub(r"\1", text[: 100 * LONGEST])))
    words = one_line(bare)
    if len(words) <= LONGEST:
        return words
    return words[: LONGEST + 1].rpartition(" ")[0] or words[:LONGEST]


def one_line(text: str) -> str:
    """Return a text in one line."""
    return " ".join(_UNSEEN.sub(" ", text).split())
