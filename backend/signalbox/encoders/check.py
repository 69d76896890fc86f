"""Checks a captured v1.1 stream from any server: framing, schema and order of events."""

import re
from functools import cache
from typing import Any, TypeGuard, cast

import msgspec
import orjson
from jsonschema import Draft202012Validator
from msgspec import json

from signalbox.core.errors import UpstreamError
from signalbox.core.events import VERSION, ContractEvent
from signalbox.core.messages import JsonObject
from signalbox.core.order.invariants import OrderCheck
from signalbox.encoders.contract_schema import schema_bytes
from signalbox.wire.sse import Frame, SseDecoder

_ID = re.compile(r"([^:\s]+):(\d{1,18})")
_DECODER = json.Decoder(ContractEvent)


@cache
def schema() -> JsonObject:
    """Return the contract's JSON Schema."""
    return orjson.loads(schema_bytes())


@cache
def _validators() -> dict[str, Draft202012Validator]:
    """Return one validator per event type; unknown types come from a later version, so they are no faults."""
    whole = schema()
    names: Any = whole["discriminator"]
    return {
        kind: Draft202012Validator({"$ref": ref, "$defs": whole["$defs"]}) for kind, ref in names["mapping"].items()
    }


class StreamCheck:
    """Checks one stream frame by frame. `resumed`: it begins in the middle of its run."""

    def __init__(self, *, resumed: bool = False) -> None:
        self._order = OrderCheck(resumed=resumed)
        self._resumed = resumed
        self._run: str | None = None
        self._seq = 0
        self.frames = 0

    def feed(self, frame: Frame) -> str | None:
        """Return what is wrong with this frame, None if it is valid."""
        self.frames += 1
        return self._check_id(frame) or self._check_event(frame)

    def close(self) -> str | None:
        """Return what is missing at the end of the stream, or None."""
        return self._order.close()

    def _check_id(self, frame: Frame) -> str | None:
        if frame.event is not None:
            return f"it is a named event ({frame.event!r}); v1.1 has only data"
        match = _ID.fullmatch(frame.id or "")
        if match is None:
            return f"its id {frame.id!r} is not <run_id>:<seq>"
        run, seq = match[1], int(match[2])
        if self._run is not None and run != self._run:
            return f"its id names run {run}, the frames before it run {self._run}"
        if seq <= self._seq:
            return f"seq {seq} follows {self._seq}: it must rise"
        self._run, self._seq = run, seq
        return None

    def _check_event(self, frame: Frame) -> str | None:
        try:
            value = orjson.loads(frame.data)
        except orjson.JSONDecodeError as error:
            return f"its data is not strict JSON: {error.msg}"
        if not _is_event(value):
            return "its data is not an object with a type"
        return self._check_first(value) or self._check_schema(value, frame.data)

    def _check_first(self, value: dict[str, Any]) -> str | None:
        if self.frames > 1 or self._resumed:
            return None
        if value.get("v") != VERSION:
            return f'the first frame must carry "v": "{VERSION}"'
        if value.get("run_id") != self._run:
            return "the first frame must carry the run_id that its id names"
        return None if value.get("loop") else "the first frame must carry the loop"

    def _check_schema(self, value: dict[str, Any], data: bytes) -> str | None:
        validator = _validators().get(value["type"])
        if validator is None:
            return None
        error = next(iter(validator.iter_errors(value)), None)  # pyright: ignore[reportUnknownMemberType]
        if error is not None:
            at = ".".join(map(str, error.absolute_path)) or "the event"
            return f"{value['type']}: {at}: {error.message[:200]}"
        try:
            event = _DECODER.decode(data)
        except (msgspec.ValidationError, RecursionError) as error:
            return f"{value['type']}: {error}"
        return self._order.feed(event)


def _is_event(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict) and isinstance(cast(dict[str, Any], value).get("type"), str)


def first_stream_fault(data: bytes, *, resumed: bool = False) -> tuple[str | None, int]:
    """Return the first fault of a whole stream as a sentence, None if it is valid; and the number of frames read."""
    check = StreamCheck(resumed=resumed)
    decoder = SseDecoder()
    try:
        frames = decoder.feed(data)
    except UpstreamError as error:
        return error.message, 0
    if decoder.close():
        return "the stream ends in the middle of a frame", check.frames
    for frame in frames:
        if fault := check.feed(frame):
            return f"frame {check.frames}: {fault}", check.frames
    return check.close(), check.frames
