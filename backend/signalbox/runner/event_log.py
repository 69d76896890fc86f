"""What a run keeps of its events."""

from operator import attrgetter
from time import time
from typing import cast

from msgspec import Struct

from signalbox.core.events import AnyEvent, Content, Done, Reasoning, Stamped

_CONTENT_ALONE = frozenset({Content})
_text_of = attrgetter("content")


class EventLog(Struct):
    """The events that a trace needs, and the text of the current step."""

    events: list[Stamped] = []
    seq: int = 0
    ended: float | None = None
    _texts: list[str] = []

    @property
    def text(self) -> str:
        """The text of the current step so far."""
        return "".join(self._texts)

    def begin_step(self) -> None:
        """Forget the text of the step before."""
        self._texts = []

    def add(self, batch: list[AnyEvent]) -> None:
        """Add a batch of events."""
        if _CONTENT_ALONE.issuperset(map(type, batch)):  # nearly every batch; in C, without a Python step per event
            self.seq += len(batch)
            self._texts.extend(map(_text_of, cast("list[Content]", batch)))
            return
        for event in batch:
            self.seq += 1
            if type(event) is Content:
                self._texts.append(event.content)
            elif type(event) is not Reasoning:
                self.events.append(Stamped(self.seq, int(time() * 1000), event))
        if type(batch[-1]) is Done:
            self.ended = time()
