"""Errors inside a 200, streams without an end, keep-alives, odd frames, and rate limits (E, F)."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import orjson

from ..completion import Completion
from ..families import Family
from ..faults.steps import PARAGRAPH, answer, is_first, search, topic
from ..http.errors import Rejected
from ..http.incoming import Incoming
from ..http.stream import DONE, frame
from ..model.next_turn import decide
from ..model.turns import Turn
from .quirk import (
    UNFINISHED,
    ChangeBody,
    ChangeStream,
    Chunk,
    Frame,
    MakeTurn,
    Quirk,
    altered,
    choice,
    finished,
    first_step,
    has_calls,
)

SEPARATORS = "One line.\u2028Another line.\u2029A third one.\u0085And a fourth one, with an emoji 🙂 and an accent é."
BAD_GATEWAY: Chunk = {"code": 502, "message": "Provider disconnected unexpectedly"}


def _turn_of(text: str) -> MakeTurn:
    return lambda _incoming, _family: Turn(text, "I write a paragraph.")


def _error(code: int) -> Chunk:
    """Return an error object; that of a rate limit has its end in epoch milliseconds (quirk F1)."""
    if code != 429:
        return BAD_GATEWAY
    limits = {"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": _epoch_ms_in(0.3)}
    return {"code": 429, "message": "Rate limit exceeded", "metadata": {"headers": limits}}


def _epoch_ms_in(seconds: float) -> str:
    return str(int((time.time() + seconds) * 1000))


# ---- E1: errors inside a 200


def _error_chunk(code: int, *, at_once: bool = False) -> ChangeStream:
    """Return a function that sends a top-level error in the middle of the text, or `at_once`."""

    def stream(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
        before = [] if at_once else chunks[: len(chunks) // 2]
        return [*before, {**chunks[0], "choices": [], "error": _error(code)}]

    return stream


def _error_body(code: int) -> ChangeBody:
    return lambda _spoken, _body: {"error": _error(code), "user_id": "user_simulated"}


def _finish_error(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Finish with `error` in the middle of the text, without an error object."""
    before = chunks[: len(chunks) // 2]
    return [
        *before,
        altered(before[-1], finish=finished("error", "error"), content=""),
    ]


def _whole_finish_error(completion: Completion, body: Chunk) -> Chunk:
    choice(body).update(finished("error", "error"))
    choice(body)["message"]["content"] = PARAGRAPH[:80]
    return body


def _body_instead(writes: list[bytes]) -> list[bytes]:
    return [orjson.dumps({"error": _error(429), "user_id": "user_simulated"})]


def _error_after_calls(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Send complete calls, then an error instead of their finish."""
    if not completion.calls:
        return chunks
    return [*_up_to_calls(completion, chunks), {**chunks[0], "choices": [], "error": BAD_GATEWAY}]


# ---- E2: missing ends


def _half(writes: list[bytes]) -> list[bytes]:
    return writes[: max(len(writes) // 2, 1)]


def _up_to_calls(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """End after complete calls, before their finish."""
    if not completion.calls:
        return chunks
    last = max(at for at, chunk in enumerate(chunks) if has_calls(chunk))
    return [*chunks[:last], altered(chunks[last], finish=UNFINISHED)]


def _without_done(writes: list[bytes]) -> list[bytes]:
    """Omit `[DONE]` if there is no finish reason."""
    ended = any(b'"finish_reason":"' in write for write in writes)
    return [write for write in writes if ended or write != DONE]


# ---- E4: keep-alives


def _after_each(extra: bytes) -> Callable[[list[bytes]], list[bytes]]:
    """Return a function that sends `extra` after every frame except `[DONE]`."""
    return lambda writes: [part for write in writes for part in ((write,) if write == DONE else (write, extra))]


def _with_ids(writes: list[bytes]) -> list[bytes]:
    """Give every event an id, and send a comment after it (openai-python#2722)."""
    written: list[bytes] = []
    for number, write in enumerate(writes):
        named = b"id: %d\n" % number + write
        written += [named, b": ping\n\n"] if write.startswith((b"data: {", b"event: ")) else [write]
    return written


def _crlf(writes: list[bytes]) -> list[bytes]:
    return [write.replace(b"\n", b"\r\n") for write in writes]


def _bytes(writes: list[bytes]) -> list[bytes]:
    whole = b"".join(writes)
    return [whole[at : at + 1] for at in range(len(whole))]


# ---- E9: chunks with missing fields


def _filtered(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Send Azure's filter results: before the answer without choices, after it without a delta."""
    found = {"hate": {"filtered": False, "severity": "safe"}}
    blank: Chunk = {"id": "", "object": "", "created": 0, "model": ""}
    first = {**blank, "choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": found}]}
    later = {**blank, "choices": [{"index": 0, "finish_reason": None, "content_filter_results": found}]}
    return [first, *chunks[:-1], later, chunks[-1]]


def _no_choices(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Send a chunk without choices, and one whose choices are null."""
    without = {name: value for name, value in chunks[0].items() if name != "choices"}
    return [without, {**without, "choices": None}, *chunks]


def _null_delta(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    null = {**chunks[0], "choices": [{"index": 0, "delta": None, "finish_reason": None}]}
    return [null, *chunks[:1], null, *chunks[1:]]


def _bare_usage(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Send the usage in a chunk without choices, after the finish."""
    last = chunks[-1]
    ended = {**last, "choices": chunks[-2].get("choices") or last["choices"]}
    ended.pop("usage")
    return [*chunks[:-1], ended, {**last, "choices": []}]


# ---- E10: truncated frames


def _truncated_frames(every: int) -> ChangeStream:
    """Send the first half of a frame, then the complete frame on the same line (opencode#23442)."""

    def stream(completion: Completion, chunks: list[Chunk]) -> Sequence[Frame]:
        return [_half_and_whole(chunk) if at % every == 1 else chunk for at, chunk in enumerate(chunks)]

    return stream


def _half_and_whole(chunk: Any) -> bytes:
    whole = frame(chunk)
    return whole[: len(whole) // 2] + whole


# ---- F1: limits


def _limited(message: str, seconds: float, headers: dict[str, str] | None = None) -> Callable[[Incoming], Rejected]:
    def reject(incoming: Incoming) -> Rejected:
        limits = {
            "X-RateLimit-Limit": "20",
            "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": _epoch_ms_in(seconds),
        }
        return Rejected(429, message, metadata={"headers": {} if headers else limits}, headers=headers)

    return reject


_MINUTE = _limited("Rate limit exceeded: free-models-per-min. ", 0.3)
_DAY = _limited("Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 requests per day", 5 * 3600)
_HEADER = _limited("Rate limit exceeded", 0, {"Retry-After": "1"})


def _separated(incoming: Incoming, family: Family) -> Turn:
    asked = first_step(lambda asking: [search(asking, f"{topic(asking)}\u2028{topic(asking)}\u0085")])
    return asked(incoming, family) if is_first(incoming) else replace(answer(incoming), text=SEPARATORS)


# Quirks of bytes, not of OpenRouter's chunks: native APIs have them, too.
OF_BYTES = ("e02", "e04", "e04-data", "e04-empty", "e04-id", "e04-crlf", "e06", "f02-cut")
_PARAGRAPH = _turn_of(PARAGRAPH)
QUIRKS: dict[str, Quirk] = {
    "e01": Quirk(turn=_PARAGRAPH, stream=_error_chunk(502), whole=_error_body(502)),
    "e01-finish": Quirk(turn=_PARAGRAPH, stream=_finish_error, whole=_whole_finish_error),
    "e01-body": Quirk(turn=_PARAGRAPH, writes=_body_instead, whole=_error_body(429)),
    "e01-first": Quirk(turn=_PARAGRAPH, stream=_error_chunk(502, at_once=True), whole=_error_body(502)),
    "e01-once": Quirk(
        turn=_PARAGRAPH,
        stream=_error_chunk(502, at_once=True),
        whole=_error_body(502),
        transient=True,
        first_step_only=True,
        after=decide,
    ),
    "e01-429": Quirk(turn=_PARAGRAPH, stream=_error_chunk(429, at_once=True), whole=_error_body(429)),
    "e01-429-once": Quirk(
        turn=_PARAGRAPH,
        stream=_error_chunk(429, at_once=True),
        whole=_error_body(429),
        transient=True,
        first_step_only=True,
        after=decide,
    ),
    "e01-tool": Quirk(stream=_error_after_calls),
    "e02": Quirk(turn=_PARAGRAPH, writes=_half),
    "e02-tool": Quirk(stream=_up_to_calls, writes=_without_done),
    "e02-no-done": Quirk(writes=lambda writes: [write for write in writes if write != DONE]),
    "e02-done-only": Quirk(turn=_PARAGRAPH, writes=lambda _: [DONE]),
    "e04": Quirk(writes=_after_each(b": OPENROUTER PROCESSING\n\n")),
    "e04-data": Quirk(writes=_after_each(b"data: : keepalive\n\n")),
    "e04-empty": Quirk(writes=_after_each(b"data:\n\ndata: \n\n")),
    "e04-id": Quirk(writes=_with_ids),
    "e04-crlf": Quirk(writes=_crlf),
    "e05": Quirk(turn=_separated),
    "e06": Quirk(turn=_separated, writes=_bytes),
    "e09": Quirk(stream=_filtered),
    "e09-choices": Quirk(stream=_no_choices),
    "e09-delta": Quirk(stream=_null_delta),
    "e09-usage": Quirk(stream=_bare_usage),
    "e10": Quirk(stream=_truncated_frames(1000)),
    "e10-many": Quirk(turn=_PARAGRAPH, stream=_truncated_frames(2)),
    "f01": Quirk(turn=decide, reject=_MINUTE, transient=True, first_step_only=True, after=decide),
    "f01-always": Quirk(turn=decide, reject=_MINUTE),
    "f01-day": Quirk(turn=decide, reject=_DAY),
    "f01-header": Quirk(turn=decide, reject=_HEADER, transient=True, first_step_only=True, after=decide),
    "f02": Quirk(
        turn=_PARAGRAPH,
        stream=_error_chunk(502),
        whole=_error_body(502),
        transient=True,
        first_step_only=True,
        after=decide,
    ),
    "f02-cut": Quirk(turn=_PARAGRAPH, writes=_half, ending="cut", transient=True, first_step_only=True, after=decide),
    "f02-tool": Quirk(stream=_error_after_calls, transient=True),
}
