"""assistant-ui: a run as operations on the client's state, in each of its two framings.

The stream begins with the branch of the conversation that the run answers, so that the client shows what is stored.
"""

from collections.abc import Mapping
from typing import ClassVar

from signalbox.core.events import AnyEvent, Content, Done, Stamped
from signalbox.core.messages import JsonObject
from signalbox.core.records import RunRecord
from signalbox.encoders.assistant_ui.branch import EMPTY, Branch
from signalbox.encoders.assistant_ui.error import error_text
from signalbox.encoders.assistant_ui.state import (
    END_OF_APPEND,
    StateOperations,
    encode_text,
    is_plain,
    set_operation,
)
from signalbox.encoders.encoder import failure_of, reached_cost_limit


class _AssistantUiEncoder:
    """Encodes the events of a run as frames with operations; each event has a frame."""

    headers: ClassVar[Mapping[str, str]] = {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}
    starts_anywhere: ClassVar[bool] = False  # paths contain the indexes of messages and parts

    content_type: ClassVar[str]
    ping: ClassVar[bytes]
    _before: ClassVar[bytes]
    _after: ClassVar[bytes]
    _error: ClassVar[bytes]
    _end: ClassVar[bytes]

    def __init__(self, run: RunRecord, after: int = 0, branch: Branch = EMPTY) -> None:
        self._operations = StateOperations(run.id, len(branch.messages), branch.answer, branch.versions)
        # What surrounds the text of a frame that only appends to the open part; empty while no part is open.
        self._before_text = b""
        self._after_text = END_OF_APPEND + self._after

    @classmethod
    def state(cls, state: JsonObject) -> bytes:
        """Return the frame that sets each of these fields of the state."""
        return cls._frame([set_operation((name,), value) for name, value in state.items()])

    @classmethod
    def end(cls) -> bytes:
        """Return the end of a stream without a run."""
        return cls._end

    @classmethod
    def _frame(cls, operations: list[bytes]) -> bytes:
        return b"%b%b%b" % (cls._before, b",".join(operations), cls._after)

    def encode(self, batch: list[Stamped]) -> bytes:
        """Return the frames of a batch."""
        if len(batch) == 1:  # every batch of a slow stream
            event = batch[0].event
            if type(event) is Content and self._before_text and is_plain(event) and event.content:
                return self._before_text + encode_text(event.content) + self._after_text
        frames: list[bytes] = []
        for stamped in batch:
            event = stamped.event
            if type(event) is Content and self._before_text and is_plain(event) and event.content:  # nearly all
                frames += (self._before_text, encode_text(event.content), self._after_text)
            else:
                frames.append(self._frames(event))
        return b"".join(frames)

    def _frames(self, event: AnyEvent) -> bytes:
        operations = self._operations.of(event)
        append = self._operations.append_to_text
        self._before_text = append and self._before + append
        frame = self._frame(operations) if operations else b""
        if type(event) is not Done:
            return frame
        is_error = failure_of(event) is not None and not reached_cost_limit(event)
        error = self._error % encode_text(error_text(event)) if is_error else b""
        return frame + error + self._end


class DataStreamEncoder(_AssistantUiEncoder):
    """Data stream: one line for each event, `CODE:JSON`. An empty line is a ping."""

    content_type: ClassVar[str] = "text/plain; charset=utf-8"
    ping: ClassVar[bytes] = b"\n"
    _before, _after = b"aui-state:[", b"]\n"
    _error = b"3:%b\n"
    _end = b""


class TransportEncoder(_AssistantUiEncoder):
    """Assistant transport: server-sent events, ended by `[DONE]`."""

    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    ping: ClassVar[bytes] = b": ping\n\n"
    _before, _after = b'data: {"type":"update-state","operations":[', b"]}\n\n"
    _error = b'data: {"type":"error","error":%b}\n\n'
    _end = b"data: [DONE]\n\n"
