"""Ids of traces: those of a run follow from its id, so that the span of a crashed run finds its children."""

import threading
from hashlib import blake2b
from typing import NamedTuple

from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

_PERSON = b"signalbox-trace"


class RunIds(NamedTuple):
    """The trace id of a run without an incoming one, and the id of its span."""

    trace: int
    span: int


def ids_of(run_id: str) -> RunIds:
    """Return the ids of a run. They do not reveal the run's id: upstreams receive them."""
    digest = blake2b(run_id.encode(), digest_size=24, person=_PERSON).digest()
    return RunIds(int.from_bytes(digest[:16]) or 1, int.from_bytes(digest[16:]) or 1)


class IdGenerator(RandomIdGenerator):
    """Generates random ids, except for a span whose ids were set just before it starts."""

    def __init__(self) -> None:
        self._next = threading.local()

    def use_next(self, ids: RunIds) -> None:
        """Give the next span of this thread these ids; the trace id only if the span has no parent."""
        self._next.ids = ids

    def generate_trace_id(self) -> int:  # noqa: D102
        ids: RunIds | None = getattr(self._next, "ids", None)
        return ids.trace if ids is not None else super().generate_trace_id()

    def generate_span_id(self) -> int:  # noqa: D102
        ids: RunIds | None = getattr(self._next, "ids", None)
        if ids is None:
            return super().generate_span_id()
        self._next.ids = None
        return ids.span
