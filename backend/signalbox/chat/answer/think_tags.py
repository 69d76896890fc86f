"""Reasoning that a host left in the answer as `<think>…</think>`: taken out of it as it streams (quirk B11)."""

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
    """Splits one answer's text; only where a profile says that the family does this.

    Tags count at the beginning of the answer alone, so a `<think>` that the model writes about stays text. No more is
    held back than a tag is long: waiting for the whole answer kills streaming and loses text on a cut
    (qwen-code#8818). Once the host has sent reasoning in its own field, text is text.
    """

    def __init__(self) -> None:
        self._state = _State.START
        self._held: str = ""
        self._last = ""  # the last letter of the thinking that was let through

    def split(self, parts: Iterable[StreamPart]) -> list[StreamPart]:
        """Return the parts with text sorted into text and reasoning."""
        out: list[StreamPart] = []
        for part in parts:
            if isinstance(part, TextDelta) and self._state is not _State.TEXT:
                self._feed(part.text, out)
            else:
                if isinstance(part, ReasoningDelta | HiddenReasoning):
                    self._give_up(out)
                out.append(part)
        return out

    def close(self) -> list[StreamPart]:
        """Return what was held back at the end."""
        out: list[StreamPart] = []
        if self._held and self._state is _State.INSIDE:
            out.append(ReasoningDelta(self._held))
            self._held = ""
        self._give_up(out)
        return out

    def _give_up(self, out: list[StreamPart]) -> None:
        if self._held:
            out.append(TextDelta(self._held))
        self._held = ""
        self._state = _State.TEXT

    def _feed(self, text: str, out: list[StreamPart]) -> None:
        self._held += text
        if self._state is _State.START:
            self._begin(out)
        if self._state is _State.INSIDE:
            self._think(out)
        if self._state is _State.AFTER:  # the line breaks between the tag and the answer belong to neither
            self._held = self._held.lstrip("\n")
            if self._held:
                self._give_up(out)

    def _begin(self, out: list[StreamPart]) -> None:
        """Decide at the first letters: an opening tag, a stray closing one, or plain text."""
        shown = self._held.lstrip()
        if shown.startswith(_OPEN):
            self._state = _State.INSIDE
            self._held = shown.removeprefix(_OPEN)
        elif shown.startswith(_CLOSE):
            self._held = shown.removeprefix(_CLOSE)
            self._state = _State.AFTER
        elif shown and not _OPEN.startswith(shown) and not _CLOSE.startswith(shown):
            self._give_up(out)

    def _think(self, out: list[StreamPart]) -> None:
        end = self._closing()
        shown = self._held[: len(self._held) - _partial(self._held)] if end < 0 else self._held[:end]
        if shown:
            out.append(ReasoningDelta(shown))
            self._last = shown[-1]
        self._held = self._held[len(shown) :] if end < 0 else self._held[end + len(_CLOSE) :]
        if end >= 0:
            self._state = _State.AFTER

    def _closing(self) -> int:
        """Find the tag that ends the thinking, -1 when it is not there yet; one in backticks is only spoken of."""
        end = self._held.find(_CLOSE)
        while end >= 0 and (self._held[end - 1] if end else self._last) == "`":
            end = self._held.find(_CLOSE, end + 1)
        return end


def _partial(text: str) -> int:
    """Return how many of the last characters may be the beginning of a closing tag."""
    return next((n for n in range(min(len(_CLOSE) - 1, len(text)), 0, -1) if _CLOSE.startswith(text[-n:])), 0)
