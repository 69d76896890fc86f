"""Picks a snippet of a section: whole sentences around the words of the question."""

import re
from collections.abc import Iterator, Sequence

from signalbox.services.search.pages import CODE

LONGEST = 420
_PARAGRAPHS = re.compile(r"\n\s*\n|\n(?=\s*(?:[*+-]|\d+[.)])\s)")
_SENTENCES = re.compile(r"(?<=[.!?:])\s*\n\s*|(?<=[.!?])\s+(?=[^\W\d_a-z]|[\"'(“\d])")
_ENDING = re.compile(r"(?:ing|ed|es|s|e)$")


def stem(word: str) -> str:
    """Return the lower-case stem of a word, without common endings."""
    low = word.casefold()
    return _ENDING.sub("", low) if len(low) > 4 else low.removesuffix("s")


def stems(text: str) -> set[str]:
    """Return the stems of a text's words."""
    return {stem(word) for word in re.findall(r"\w+", text)}


def snippet(body: str, words: set[str], longest: int = LONGEST) -> str:
    """Return whole sentences of a section, at most `longest` characters.

    `words` are stems. The snippet starts at the sentence with the most of them, or at the first sentence if the opening
    has as many. Code is used only if there is no prose. A sentence that is too long is cut around the first word found,
    with an ellipsis.
    """
    sentences = list(_sentences(body, code=False)) or list(_sentences(body, code=True))
    if not sentences:
        return ""
    start = _best(sentences, words)
    shown = _cut(sentences[start], words, longest)
    for sentence in sentences[start + 1 :]:
        if len(shown) + 1 + len(sentence) > longest:
            break
        shown += f" {sentence}"
    return shown


def _sentences(body: str, *, code: bool) -> Iterator[str]:
    prose = body if code else "\n".join("" if line.startswith(CODE) else line for line in body.split("\n"))
    for paragraph in _PARAGRAPHS.split(prose):
        for sentence in _SENTENCES.split(re.sub(r"\A\s*[*+-]\s", "", paragraph)):
            if line := " ".join(sentence.split()):
                yield line if code or line.endswith((".", "!", "?", "…")) else f"{line.rstrip(':;,')}."


def _best(sentences: Sequence[str], words: set[str]) -> int:
    """Return where the snippet starts: at the first sentence, unless a later one has additional terms."""
    counts = [len(words & stems(sentence)) for sentence in sentences]
    opening, length = set[str](), 0
    for sentence in sentences:
        length += len(sentence) + 1
        if length > LONGEST:
            break
        opening |= words & stems(sentence)
    return 0 if len(opening) >= max(counts) else counts.index(max(counts))


def _cut(sentence: str, words: set[str], longest: int) -> str:
    if len(sentence) <= longest:
        return sentence
    first = next((found.start() for found in re.finditer(r"\w+", sentence) if stem(found[0]) in words), 0)
    start = sentence.rfind(" ", 0, max(0, first - longest // 4)) + 1
    end = sentence.rfind(" ", start, start + longest - 2)
    cut = sentence[start : end if end > start else start + longest - 2]
    return ("…" if start else "") + cut + ("…" if start + len(cut) < len(sentence) else "")
