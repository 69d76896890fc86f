"""What a run keeps of its events."""

from time import time

from msgspec import Struct

from signalbox.core.events import AnyEvent, Content, Done, Reasoning, Stamped


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
        for event in batch:
            self.seq += 1
            if type(event) is Content:
                self._texts.append(event.content)
            elif type(event) is not Reasoning:
                self.events.append(Stamped(self.seq, int(time() * 1000), event))
        if type(batch[-1]) is Done:
            self.ended = time()
