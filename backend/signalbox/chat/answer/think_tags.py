"""Splits reasoning between `<think>` tags from an answer's text while it streams (quirk B11)."""

from collections.abc import Iterable
from enum import Enum

from signalbox.core.parts import HiddenReasoning, ReasoningDelta, StreamPart, TextDelta

_OPEN, _CLOSE = "<think>", "</think>"


class _State(Enum):
    START = "start"
    INSIDE = "inside"
    AFTER = "after"
    TEXT = "text"


class ThinkSplitter:
    """Splits the text of one answer; used only if the model family's profile says so.

    Tags count only at the beginning of the answer, so a `<think>` that the answer mentions stays text. At most the
    length of a tag is held back: waiting for the whole answer would prevent streaming, and lose text if the stream is
    cut (qwen-code#8818). Once the provider has sent reasoning in a separate field, no text is split.
    """

    def __init__(self) -> None:
        self._state = _State.START
        self._held: str = ""
        self._last = ""  # the last character of the reasoning that was passed on

    def split(self, parts: Iterable[StreamPart]) -> list[StreamPart]:
        """Return the parts, with their text split into text and reasoning."""
        out: list[StreamPart] = []
        for part in parts:
            if isinstance(part, TextDelta) and self._state is not _State.TEXT:
                self._feed(part.text, out)
            else:
                if isinstance(part, ReasoningDelta | HiddenReasoning):
                    self._pass_as_text(out)
                out.append(part)
        return out

    def close(self) -> list[StreamPart]:
        """Return what was held back at the end."""
        out: list[StreamPart] = []
        if self._held and self._state is _State.INSIDE:
            out.append(ReasoningDelta(self._held))
            self._held = ""
        self._pass_as_text(out)
        return out

    def _pass_as_text(self, out: list[StreamPart]) -> None:
        if self._held:
            out.append(TextDelta(self._held))
        self._held = ""
        self._state = _State.TEXT

    def _feed(self, text: str, out: list[StreamPart]) -> None:
        self._held += text
        if self._state is _State.START:
            self._read_start(out)
        if self._state is _State.INSIDE:
            self._read_reasoning(out)
        if self._state is _State.AFTER:  # line breaks between the tag and the answer are dropped
            self._held = self._held.lstrip("\n")
            if self._held:
                self._pass_as_text(out)

    def _read_start(self, out: list[StreamPart]) -> None:
        """Decide by the first characters: an opening tag, a stray closing tag, or text."""
        shown = self._held.lstrip()
        if shown.startswith(_OPEN):
            self._state = _State.INSIDE
            self._held = shown.removeprefix(_OPEN)
        elif shown.startswith(_CLOSE):
            self._held = shown.removeprefix(_CLOSE)
            self._state = _State.AFTER
        elif shown and not _OPEN.startswith(shown) and not _CLOSE.startswith(shown):
            self._pass_as_text(out)

    def _read_reasoning(self, out: list[StreamPart]) -> None:
        end = self._closing()
        shown = self._held[: len(self._held) - _partial(self._held)] if end < 0 else self._held[:end]
        if shown:
            out.append(ReasoningDelta(shown))
            self._last = shown[-1]
        self._held = self._held[len(shown) :] if end < 0 else self._held[end + len(_CLOSE) :]
        if end >= 0:
            self._state = _State.AFTER

    def _closing(self) -> int:
        """Return the index of the closing tag, -1 if it has not arrived; a tag in backticks is text."""
        end = self._held.find(_CLOSE)
        while end >= 0 and (self._held[end - 1] if end else self._last) == "`":
            end = self._held.find(_CLOSE, end + 1)
        return end


def _partial(text: str) -> int:
    """Return how many of the last characters may be the beginning of a closing tag."""
    return next((n for n in range(min(len(_CLOSE) - 1, len(text)), 0, -1) if _CLOSE.startswith(text[-n:])), 0)
