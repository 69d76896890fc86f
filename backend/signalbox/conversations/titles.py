"""Titles: the first words of the first question, without a model's help."""

import re

LONGEST = 60
# A link's or an image's words stay, its address goes; marks at the beginning of a line; marks around words.
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_AT_START = re.compile(
    r"^[ \t]*(?:(?:#{1,6}|>|[-*+]|\d{1,9}[.)])[ \t]+|>|`{3,}\w*|~{3,}\w*|(?:[-*_=][ \t]*){3,}$)+", re.MULTILINE
)
# Possessive, and from the first of a row alone: a long row of _ would else be tried from each of them.
_AROUND = re.compile(r"(?<!\w)\*+(?=\S)|(?<=\S)\*+(?!\w)|~~+|`+|(?<!\w)_+|(?<!_)_++(?!\w)")
# Lines are one, and nothing that cannot be seen is in a title.
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def title_of(text: str) -> str:
    """Return as many whole words as fit in one line without marks; a first word that is longer than that is cut."""
    # Marks make a text longer, not by much: what follows cannot reach the title, and need not be read.
    bare = _AROUND.sub("", _AT_START.sub("", _LINK.sub(r"\1", text[: 100 * LONGEST])))
    words = one_line(bare)
    if len(words) <= LONGEST:
        return words
    return words[: LONGEST + 1].rpartition(" ")[0] or words[:LONGEST]


def one_line(text: str) -> str:
    """Return a text in one line."""
    return " ".join(_UNSEEN.sub(" ", text).split())
