"""An answer in the bytes of a native API, and its faults of transport: answers that end early, stall or are invalid."""

from dataclasses import dataclass, field

from ..faults.scripted import Fault
from ..http.writes import Ending
from ..quirks import Quirk

DRIP = 7  # bytes per write
NOT_JSON = b"<html>Bad gateway</html>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """An answer, streamed and whole, and the API's own way to fail in the middle of it."""

    frames: list[bytes]
    whole: bytes
    finish: int
    """The index of the first frame that says why the answer ended."""
    end: int
    """The index of the frame that marks the end of the stream; the number of frames if the API has no such frame."""
    error: list[bytes]
    """The frames of an error in the middle of the stream."""
    error_body: bytes
    """An error as a JSON body, sent with status 200 by `sim-json-error`."""
    malformed: bytes
    """A frame whose data is not JSON."""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    stream_type: str = "text/event-stream; charset=utf-8"


def writes_of(
    wire: Wire, fault: Fault | None, quirk: Quirk | None = None, *, stream: bool
) -> tuple[list[bytes], Ending, str]:
    """Return the network writes of an answer, its ending and its content type."""
    if quirk and stream:
        return quirk.writes(wire.frames) if quirk.writes else wire.frames, quirk.ending, wire.stream_type
    name = fault.name if fault else ""
    if name == "json-error":
        return [wire.error_body], "clean", "application/json"
    if stream:
        writes, ending = _streamed(wire, name)
        all_bytes, kind = b"".join(wire.frames), wire.stream_type
    else:
        writes, ending = _whole(wire, name)
        all_bytes, kind = wire.whole, "application/json"
    if fault and name == "cut" and fault.number is not None:
        writes = [all_bytes[: fault.number]]
    return [write for write in writes if write], ending, kind


def _streamed(wire: Wire, fault: str) -> tuple[list[bytes], Ending]:
    half = wire.frames[: max(len(wire.frames) // 2, 1)]
    match fault:
        case "midstream-error":
            return [*half, *wire.error], "clean"
        case "cut":
            return half, "cut"
        case "cut-tool":
            return wire.frames[: wire.finish], "cut"
        case "eof":
            return half, "clean"
        case "stall":
            return half, "stall"
        case "no-done":
            return wire.frames[: wire.end], "clean"
        case "done-only":
            return wire.frames[wire.end :], "clean"
        case "drip":
            text = b"".join(wire.frames)
            return [text[at : at + DRIP] for at in range(0, len(text), DRIP)], "clean"
        case "malformed":
            return [*half, wire.malformed, *wire.frames[len(half) :]], "clean"
        case _:
            return wire.frames, "clean"


def _whole(wire: Wire, fault: str) -> tuple[list[bytes], Ending]:
    first_part = wire.whole[: len(wire.whole) * 2 // 3]
    match fault:
        case "midstream-error":
            return [wire.error_body], "clean"
        case "cut" | "cut-tool":
            return [first_part], "cut"
        case "eof":
            return [first_part], "clean"
        case "done-only":
            return [], "clean"
        case "stall":
            return [], "stall"
        case "malformed":
            return [NOT_JSON], "clean"
        case _:
            return [wire.whole], "clean"
