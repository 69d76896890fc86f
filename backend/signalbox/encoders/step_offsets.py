"""Offsets of citations: providers count characters in the text of one step, whole answers in the text of all steps."""

from msgspec import UNSET, structs

from signalbox.core.events import Source

# The break that a loop emits between the texts of two steps; it belongs to neither.
_BREAK = "\n\n"


class StepOffsets:
    """Follows the text of an answer; `length` is that of the whole text, `start` where the current step's begins."""

    def __init__(self) -> None:
        self.length = self.start = 0
        self._is_new_step = False

    def end_step(self) -> None:
        """Begin a new step; its text may follow."""
        self._is_new_step = True

    def add_text(self, text: str) -> None:
        """Take in a piece of the answer."""
        if self._is_new_step and text:
            self._is_new_step = False
            self.start = self.length + (len(text) if self.length and text == _BREAK else 0)
        self.length += len(text)

    def placed(self, source: Source) -> Source:
        """Return a source with offsets in the whole text."""
        if source.start_index is UNSET or source.end_index is UNSET:
            return source
        start, end = source.start_index + self.start, source.end_index + self.start
        return structs.replace(source, start_index=start, end_index=end)
