"""Encodes answers as network writes, with the faults of transport: bodies that end early, stall or are invalid."""

from collections.abc import Callable
from typing import Any

import orjson

from ..completion import Completion
from ..http.body import body, body_writes
from ..http.stream import DONE, Piece, envelope, frame, frames
from ..http.writes import Ending
from ..quirks import Quirk, quirk_of
from .scripted import Fault

BreakAnswer = Callable[[Completion, list[bytes]], tuple[list[bytes], Ending]]
DRIP = 7  # bytes per write
BROKEN = b'data: {"id":"gen-broken","choices":[{"index":0,"delta":{"content":"half a fra\n\n'


def response_writes(completion: Completion, fault: Fault | None, *, stream: bool) -> tuple[list[bytes], Ending, str]:
    """Return the writes of an answer, its ending and its content type."""
    if fault and fault.name == "json-error":
        return [orjson.dumps(error_body(completion))], "clean", "application/json"
    table = STREAM_FAULTS if stream else BODY_FAULTS
    quirk = quirk_of(completion.model, completion.attempt)
    if quirk:
        return _quirk_writes(completion, quirk, stream=stream)
    pieces = list(frames(completion)) if stream else body_writes(completion)
    broken = table.get(fault.name) if fault else None
    pieces, ending = broken(completion, pieces) if broken else (pieces, "clean")
    if fault and fault.name == "cut" and fault.number is not None:
        pieces = _first_bytes(list(frames(completion)) if stream else body_writes(completion), fault.number)
    return (
        _burst(pieces, completion.family.burst if stream else 1),
        ending,
        "text/event-stream" if stream else "application/json",
    )


def _quirk_writes(completion: Completion, quirk: Quirk, *, stream: bool) -> tuple[list[bytes], Ending, str]:
    if not stream:
        return body_writes(completion, quirk.whole), "clean", "application/json"
    writes = list(frames(completion, quirk.stream))
    writes = quirk.writes(writes) if quirk.writes else _burst(writes, completion.family.burst)
    return writes, quirk.ending, "text/event-stream"


def error_body(completion: Completion) -> dict[str, Any]:
    """Return a rate limit as the body of a 200 (litellm#8448)."""
    metadata = {
        "provider_name": completion.provider,
        "error_type": "rate_limit_exceeded",
        "raw": "rate limited upstream",
    }
    return {
        "error": {"code": 429, "message": "Provider returned error", "metadata": metadata},
        "user_id": "user_simulated",
    }


def _burst(pieces: list[bytes], size: int) -> list[bytes]:
    return [b"".join(pieces[at : at + size]) for at in range(0, len(pieces), size)]


def _first_bytes(writes: list[bytes], size: int) -> list[bytes]:
    """Return the first `size` bytes of the writes."""
    first: list[bytes] = []
    for write in writes:
        first.append(write[: max(size, 0)])
        size -= len(write)
    return [write for write in first if write]


def _dripping(completion: Completion, writes: list[bytes]) -> tuple[list[bytes], Ending]:
    text = b"".join(writes)
    return [text[at : at + DRIP] for at in range(0, len(text), DRIP)], "clean"


def _half(writes: list[bytes]) -> list[bytes]:
    return writes[: max(len(writes) // 2, 1)]


def _midstream_error(completion: Completion, writes: list[bytes]) -> tuple[list[bytes], Ending]:
    metadata = {"error_type": "provider_unavailable", "provider_code": "server_error"}
    error = {"code": 502, "message": "Provider disconnected unexpectedly", "metadata": metadata}
    chunk = envelope(completion, Piece({"content": ""}, "error", "error"))
    return [*_half(writes), frame({**chunk, "error": error}), DONE], "clean"


def _malformed(completion: Completion, writes: list[bytes]) -> tuple[list[bytes], Ending]:
    half = _half(writes)
    return [*half, BROKEN, *writes[len(half) :]], "clean"


def _whole_error(completion: Completion, writes: list[bytes]) -> tuple[list[bytes], Ending]:
    answer = body(completion)
    metadata = {"error_type": "provider_unavailable", "raw": "upstream went away"}
    error = {"code": 502, "message": "Provider returned error", "metadata": metadata}
    answer["choices"][0] = {**answer["choices"][0], "error": error, "finish_reason": "error"}
    return [orjson.dumps(answer)], "clean"


def _before_finish(writes: list[bytes]) -> list[bytes]:
    """Return the writes before the first finish reason."""
    at = next(at for at, write in enumerate(writes) if b'"finish_reason":"' in write)
    return writes[:at]


def _only(text: bytes) -> BreakAnswer:
    """Return a function that sends only this text."""

    def instead(completion: Completion, writes: list[bytes]) -> tuple[list[bytes], Ending]:
        return [text], "clean"

    return instead


def _truncated(writes: list[bytes]) -> list[bytes]:
    text = b"".join(writes)
    return [text[: len(text) * 2 // 3]]


STREAM_FAULTS: dict[str, BreakAnswer] = {
    "midstream-error": _midstream_error,
    "cut": lambda _, writes: (_half(writes), "cut"),
    "eof": lambda _, writes: (_half(writes), "clean"),
    "done-only": _only(DONE),
    "cut-tool": lambda _, writes: (_before_finish(writes), "cut"),
    "stall": lambda _, writes: (_half(writes), "stall"),
    "no-done": lambda _, writes: ([write for write in writes if write != DONE], "clean"),
    "drip": _dripping,
    "malformed": _malformed,
}
BODY_FAULTS: dict[str, BreakAnswer] = {
    "midstream-error": _whole_error,
    "cut": lambda _, writes: (_truncated(writes), "cut"),
    "cut-tool": lambda _, writes: (_truncated(writes), "cut"),
    "eof": lambda _, writes: (_truncated(writes), "clean"),
    "done-only": _only(b""),
    "stall": lambda _, writes: (writes[:1], "stall"),
    "malformed": _only(b"<html>Bad gateway</html>"),
}
