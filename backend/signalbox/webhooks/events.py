"""The body of an event, and the event `run.ended`: for runs whose end a client may have missed, without content."""

from collections.abc import Callable
from datetime import UTC, datetime

from msgspec import to_builtins

from signalbox.chat.observer import RunObserver
from signalbox.core.conversations import shown_id
from signalbox.core.messages import JsonObject
from signalbox.core.records import RunRecord
from signalbox.runs.run import Run
from signalbox.wire.json_text import dumps

Send = Callable[[str, JsonObject], None]


def body_of(kind: str, at: float, payload: JsonObject) -> bytes:
    """Return the body of a request: the kind, when the event happened, and its payload."""
    return dumps({"type": kind, "timestamp": _iso(at), "data": payload})


class RunEndings:
    """A RunListener that sends `run.ended` when a run ends that a client does not, or need not, wait for.

    These are runs with `on_disconnect: continue`, runs that were cancelled or interrupted without a subscriber, and
    runs that a crash interrupted. A short run may complete before its client subscribes, so that a complete run without
    a subscriber is not detached. `subscribed`: a client was receiving the events when the run ended.
    """

    def __init__(self, send: Send) -> None:
        self._send = send

    def started(self, run: Run) -> RunObserver | None:
        """Observe nothing."""
        return None

    def over(self, run: Run) -> None:
        """Send the event of a run that ended detached. If another worker ended it, that worker sends it."""
        if run.done is None or run.journal.is_lost:
            return
        was_left = run.subscribers == 0 and run.done.status in ("cancelled", "interrupted")
        if run.options.continues_after_disconnect or was_left:
            self._send("run.ended", ended_payload(run.record(), subscribed=run.subscribers > 0))

    def recovered(self, record: RunRecord) -> None:
        """Send the event of a run whose worker crashed."""
        self._send("run.ended", ended_payload(record, subscribed=False))


def ended_payload(record: RunRecord, *, subscribed: bool) -> JsonObject:
    """Return the payload of `run.ended`. It has no content: neither messages nor tools nor the text of errors."""
    return {
        "run_id": record.id,
        "conversation_id": shown_id(record.conversation_id) if record.conversation_id else None,
        "owner": record.owner,
        "status": record.status,
        "code": record.code,
        "model": record.model,
        "loop": record.loop,
        "started": record.started,
        "ended": record.ended,
        "usage": to_builtins(record.usage) if record.usage is not None else None,
        "cost": record.cost,
        "cost_estimated": record.cost_estimated,
        "subscribed": subscribed,
    }


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
