"""Decodes a captured answer to one JSON object, with the code that the loops use and without repairs."""

from collections.abc import Iterable, Iterator

from signalbox.chat.answer.response import parse_completion_response
from signalbox.chat.loops.stop_reason import fault_of
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import ArgumentStatus, Completion, StreamPart, Unreadable
from signalbox.wire.dialect import Dialect


def decode_capture(data: bytes, dialect: Dialect) -> tuple[JsonObject, str | None]:
    """Decode a captured body, streamed or whole; raises ValueError if it is neither.

    The second value is a defect of the capture itself, None if it has none.
    """
    if data.lstrip().startswith((b"{", b"[")):
        return _result(dialect.parts_of_body(data), dialect)
    return decode_stream([data], dialect)


def decode_stream(reads: Iterable[bytes], dialect: Dialect) -> tuple[JsonObject, str | None]:
    """Decode the network reads of a captured stream like `decode_capture`."""
    decoder = dialect.stream_decoder()
    parts = [part for read in reads for part in decoder.feed(read)]
    parts += decoder.close()
    described, defect = _result(parts, dialect)
    return {**described, **decoder.described()}, defect


def _result(parts: list[StreamPart], dialect: Dialect) -> tuple[JsonObject, str | None]:
    if not any(not isinstance(part, Unreadable) for part in parts):
        raise ValueError("nothing in it is a chunk of an answer")
    completion = parse_completion_response(parts)
    native = completion.native
    further = dialect.describe_native(native.items if native is not None else ())
    return {**describe(completion), **further}, _defect_of(completion)


def _defect_of(completion: Completion) -> str | None:
    if completion.unreadable:
        return f"{completion.unreadable} frames are not JSON and were left out"
    if fault_of(completion) is not None and completion.fault is None and completion.finish.word is None:
        return "the stream ends without a finish reason and without [DONE]"
    return None


def stream_parts(reads: Iterable[bytes], dialect: Dialect) -> Iterator[StreamPart]:
    """Decode the network reads of one stream."""
    decoder = dialect.stream_decoder()
    for read in reads:
        yield from decoder.feed(read)
    yield from decoder.close()


def describe(completion: Completion) -> JsonObject:
    """Turn a Completion into plain JSON."""
    error: JsonValue = None
    if completion.fault:
        error = completion.fault.raw or {"message": completion.fault.error.message}
    return {
        "content": completion.content,
        "refusal": completion.refusal or None,
        "reasoning": completion.reasoning,
        "reasoning_details": [dict(detail.raw) for detail in completion.reasoning_details],
        "tool_calls": [
            {
                "id": call.id,
                "name": call.name,
                "arguments": call.value if call.status in (ArgumentStatus.OK, ArgumentStatus.EMPTY) else None,
                "status": str(call.status),
            }
            for call in completion.calls
        ],
        "finish_reason": completion.finish.word,
        "native_finish_reason": completion.finish.native,
        "usage": dict(completion.usage_raw) if completion.usage_raw else None,
        "error": error,
    }
