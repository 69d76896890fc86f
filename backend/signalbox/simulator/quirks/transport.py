"""Sections E and F: errors inside a 200, endings without an end, keep-alives, odd frames, and limits that pass."""

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
    first_step,
    has_calls,
)

SEPARATORS = "One line.\u2028Another line.\u2029A third one.\u0085And a fourth one, with an emoji 🙂 and an accent é."
BAD_GATEWAY: Chunk = {"code": 502, "message": "Provider disconnected unexpectedly"}


def _saying(text: str) -> MakeTurn:
    return lambda _incoming, _family: Turn(text, "I write a paragraph.")


def _error(code: int) -> Chunk:
    """Write the error object of a chunk; a rate limit tells its end in epoch milliseconds (quirk F1)."""
    if code != 429:
        return BAD_GATEWAY
    limits = {"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": _in(0.3)}
    return {"code": 429, "message": "Rate limit exceeded", "metadata": {"headers": limits}}


def _in(seconds: float) -> str:
    return str(int((time.time() + seconds) * 1000))


# ---- E1: errors inside a 200


def _breaks(code: int, *, at_once: bool = False) -> ChangeStream:
    """Send a top-level error without choices, in the middle of the text or before any of it."""

    def stream(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
        kept = [] if at_once else chunks[: len(chunks) // 2]
        return [*kept, {**chunks[0], "choices": [], "error": _error(code)}]

    return stream


def _error_body(code: int) -> ChangeBody:
    return lambda _spoken, _body: {"error": _error(code), "user_id": "user_simulated"}


def _says_error(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Finish with `error` in the middle of the text, without an error object."""
    kept = chunks[: len(chunks) // 2]
    return [*kept, altered(kept[-1], finish={"finish_reason": "error", "native_finish_reason": "error"}, content="")]


def _whole_says_error(completion: Completion, body: Chunk) -> Chunk:
    choice(body).update({"finish_reason": "error", "native_finish_reason": "error"})
    choice(body)["message"]["content"] = PARAGRAPH[:80]
    return body


def _body_instead(writes: list[bytes]) -> list[bytes]:
    return [orjson.dumps({"error": _error(429), "user_id": "user_simulated"})]


def _breaks_behind_calls(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Send whole calls, then an error in the place of their finish."""
    if not completion.calls:
        return chunks
    return [*_up_to_calls(completion, chunks), {**chunks[0], "choices": [], "error": BAD_GATEWAY}]


# ---- E2: an end that is none


def _half(writes: list[bytes]) -> list[bytes]:
    return writes[: max(len(writes) // 2, 1)]


def _up_to_calls(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Stop behind whole calls, before their finish."""
    if not completion.calls:
        return chunks
    last = max(at for at, chunk in enumerate(chunks) if has_calls(chunk))
    return [*chunks[:last], altered(chunks[last], finish=UNFINISHED)]


def _undone(writes: list[bytes]) -> list[bytes]:
    """Leave `[DONE]` out where no finish has come."""
    ended = any(b'"finish_reason":"' in write for write in writes)
    return [write for write in writes if ended or write != DONE]


# ---- E4: keep-alives


def _between(extra: bytes) -> Callable[[list[bytes]], list[bytes]]:
    """Send something that says nothing behind every frame but the last."""
    return lambda writes: [part for write in writes for part in ((write,) if write == DONE else (write, extra))]


def _with_ids(writes: list[bytes]) -> list[bytes]:
    """Return every event an id, and send a comment alone behind it (openai-python#2722)."""
    sent: list[bytes] = []
    for number, write in enumerate(writes):
        named = b"id: %d\n" % number + write
        sent += [named, b": ping\n\n"] if write.startswith(b"data: {") else [write]
    return sent


def _crlf(writes: list[bytes]) -> list[bytes]:
    return [write.replace(b"\n", b"\r\n") for write in writes]


def _bytes(writes: list[bytes]) -> list[bytes]:
    whole = b"".join(writes)
    return [whole[at : at + 1] for at in range(len(whole))]


# ---- E9: chunks that lack something


def _filtered(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Send Azure's filter results: before the answer without a choice, behind it without a delta."""
    found = {"hate": {"filtered": False, "severity": "safe"}}
    blank: Chunk = {"id": "", "object": "", "created": 0, "model": ""}
    first = {**blank, "choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": found}]}
    later = {**blank, "choices": [{"index": 0, "finish_reason": None, "content_filter_results": found}]}
    return [first, *chunks[:-1], later, chunks[-1]]


def _no_choices(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Leave the choices out of a chunk that says nothing, and make them null in another."""
    without = {name: value for name, value in chunks[0].items() if name != "choices"}
    return [without, {**without, "choices": None}, *chunks]


def _null_delta(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    null = {**chunks[0], "choices": [{"index": 0, "delta": None, "finish_reason": None}]}
    return [null, *chunks[:1], null, *chunks[1:]]


def _bare_usage(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Send the usage in a chunk without choices behind the finish."""
    last = chunks[-1]
    ended = {**last, "choices": chunks[-2].get("choices") or last["choices"]}
    ended.pop("usage")
    return [*chunks[:-1], ended, {**last, "choices": []}]


# ---- E10: frames that are cut and glued


def _glued(every: int) -> ChangeStream:
    """Begin a frame, break off, and send it whole on the same line (opencode#23442)."""

    def stream(completion: Completion, chunks: list[Chunk]) -> Sequence[Frame]:
        return [_stutter(chunk) if at % every == 1 else chunk for at, chunk in enumerate(chunks)]

    return stream


def _stutter(chunk: Any) -> bytes:
    whole = frame(chunk)
    return whole[: len(whole) // 2] + whole


# ---- F1: limits


def _limited(message: str, seconds: float, headers: dict[str, str] | None = None) -> Callable[[Incoming], Rejected]:
    def refuse(incoming: Incoming) -> Rejected:
        limits = {"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": _in(seconds)}
        return Rejected(429, message, metadata={"headers": {} if headers else limits}, headers=headers)

    return refuse


_MINUTE = _limited("Rate limit exceeded: free-models-per-min. ", 0.3)
_DAY = _limited("Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 requests per day", 5 * 3600)
_HEADER = _limited("Rate limit exceeded", 0, {"Retry-After": "1"})


def _separated(incoming: Incoming, family: Family) -> Turn:
    asked = first_step(lambda asking: [search(asking, f"{topic(asking)}\u2028{topic(asking)}\u0085")])
    return asked(incoming, family) if is_first(incoming) else replace(answer(incoming), text=SEPARATORS)


_PARAGRAPH = _saying(PARAGRAPH)
QUIRKS: dict[str, Quirk] = {
    "e01": Quirk(turn=_PARAGRAPH, stream=_breaks(502), whole=_error_body(502)),
    "e01-finish": Quirk(turn=_PARAGRAPH, stream=_says_error, whole=_whole_says_error),
    "e01-body": Quirk(turn=_PARAGRAPH, writes=_body_instead, whole=_error_body(429)),
    "e01-first": Quirk(turn=_PARAGRAPH, stream=_breaks(502, at_once=True), whole=_error_body(502)),
    "e01-once": Quirk(
        turn=_PARAGRAPH,
        stream=_breaks(502, at_once=True),
        whole=_error_body(502),
        transient=True,
        first_step_only=True,
        after=decide,
    ),
    "e01-429": Quirk(turn=_PARAGRAPH, stream=_breaks(429, at_once=True), whole=_error_body(429)),
    "e01-429-once": Quirk(
        turn=_PARAGRAPH,
        stream=_breaks(429, at_once=True),
        whole=_error_body(429),
        transient=True,
        first_step_only=True,
        after=decide,
    ),
    "e01-tool": Quirk(stream=_breaks_behind_calls),
    "e02": Quirk(turn=_PARAGRAPH, writes=_half),
    "e02-tool": Quirk(stream=_up_to_calls, writes=_undone),
    "e02-no-done": Quirk(writes=lambda writes: [write for write in writes if write != DONE]),
    "e02-done-only": Quirk(turn=_PARAGRAPH, writes=lambda _: [DONE]),
    "e04": Quirk(writes=_between(b": OPENROUTER PROCESSING\n\n")),
    "e04-data": Quirk(writes=_between(b"data: : keepalive\n\n")),
    "e04-empty": Quirk(writes=_between(b"data:\n\ndata: \n\n")),
    "e04-id": Quirk(writes=_with_ids),
    "e04-crlf": Quirk(writes=_crlf),
    "e05": Quirk(turn=_separated),
    "e06": Quirk(turn=_separated, writes=_bytes),
    "e09": Quirk(stream=_filtered),
    "e09-choices": Quirk(stream=_no_choices),
    "e09-delta": Quirk(stream=_null_delta),
    "e09-usage": Quirk(stream=_bare_usage),
    "e10": Quirk(stream=_glued(1000)),
    "e10-many": Quirk(turn=_PARAGRAPH, stream=_glued(2)),
    "f01": Quirk(turn=decide, reject=_MINUTE, transient=True, first_step_only=True, after=decide),
    "f01-always": Quirk(turn=decide, reject=_MINUTE),
    "f01-day": Quirk(turn=decide, reject=_DAY),
    "f01-header": Quirk(turn=decide, reject=_HEADER, transient=True, first_step_only=True, after=decide),
    "f02": Quirk(
        turn=_PARAGRAPH, stream=_breaks(502), whole=_error_body(502), transient=True, first_step_only=True, after=decide
    ),
    "f02-cut": Quirk(turn=_PARAGRAPH, writes=_half, ending="cut", transient=True, first_step_only=True, after=decide),
    "f02-tool": Quirk(stream=_breaks_behind_calls, transient=True),
}
