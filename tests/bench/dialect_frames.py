"""The answers of the Python upstream in the upstreams' own APIs: the text of `frames.py` in each dialect's events."""

import re
from collections.abc import Callable
from functools import cache
from itertools import cycle, islice

import orjson

from tests.bench.frames import STAMP, Script, chunk, script_named

_MODEL = "bench-1"
_NAME = re.compile(r"(fast|paced)-(?:(\d+)-)?(\d+)")
# OpenAI pads its events to hide the length of the text.
_PADDING = ("8Qz", "a1B2c3D4e5", "", "k9", "Zx81mQ0tRw3", "p")


@cache
def dialect_script(dialect: str, name: str) -> Script:
    """Return the script `fast-EVENTS` or `paced-RATE-EVENTS` in a dialect."""
    if dialect == "openrouter-chat":
        return script_named(name)
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"no script is called {name!r}")
    beginning, deltas, ending = _WRITERS[dialect](int(found[3]))
    frames = (b"".join(beginning) + deltas[0], *deltas[1:])
    return Script(frames, b"".join(ending) + b"0\r\n\r\n", period=1 / int(found[2]) if found[2] else 0.0)


Frames = tuple[list[bytes], list[bytes], list[bytes]]


def _text(events: int) -> list[str]:
    return [f"{STAMP.decode()} "] * events


def _padding(events: int) -> list[str]:
    return [*islice(cycle(_PADDING), events)]


def _data(value: object, name: str = "", *, end: bytes = b"\n") -> bytes:
    line = b"event: %b\n" % name.encode() if name else b""
    return chunk(b"%bdata: %b%b" % (line, orjson.dumps(value), 2 * end))


def _openai_chat(events: int) -> Frames:
    def frame(delta: dict[str, object], reason: str | None = None, **more: object) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        about = {"id": "chatcmpl-BenchBenchBench", "object": "chat.completion.chunk", "created": 1_763_600_000}
        value = {**about, "model": _MODEL, "service_tier": "default", "system_fingerprint": "fp_560af6e559"}
        return _data({**value, "choices": [choice], "usage": None, **more})

    beginning = [frame({"role": "assistant", "content": "", "refusal": None}, obfuscation="aBc")]
    deltas = [
        frame({"content": text}, obfuscation=more) for text, more in zip(_text(events), _padding(events), strict=True)
    ]
    usage = {"prompt_tokens": 42, "completion_tokens": 200, "total_tokens": 242}
    last = frame({}, "stop", obfuscation="x")
    return beginning, deltas, [last, frame({}, choices=[], usage=usage), chunk(b"data: [DONE]\n\n")]


def _openai_responses(events: int) -> Frames:
    about = {"id": "resp_bench", "object": "response", "created_at": 1_763_600_000, "model": _MODEL}
    response = {**about, "status": "in_progress", "output": [], "usage": None}
    usage = {"input_tokens": 42, "output_tokens": 200, "total_tokens": 242}
    item = {"id": "msg_bench", "type": "message", "status": "in_progress", "role": "assistant", "content": []}
    part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    whole = {**item, "status": "completed", "content": [part]}
    place = {"item_id": "msg_bench", "output_index": 0, "content_index": 0}
    numbers = iter(range(events + 9))

    def frame(kind: str, **fields: object) -> bytes:
        name = f"response.{kind}"
        return _data({"type": name, "sequence_number": next(numbers), **fields}, name)

    beginning = [
        frame("created", response=response),
        frame("in_progress", response=response),
        frame("output_item.added", output_index=0, item=item),
        frame("content_part.added", **place, part=part),
    ]
    deltas = [
        frame("output_text.delta", **place, delta=text, logprobs=[], obfuscation=more)
        for text, more in zip(_text(events), _padding(events), strict=True)
    ]
    ending = [
        frame("content_part.done", **place, part=part),
        frame("output_item.done", output_index=0, item=whole),
        frame("completed", response={**response, "status": "completed", "output": [whole], "usage": usage}),
    ]
    return beginning, deltas, ending


def _anthropic(events: int) -> Frames:
    def frame(kind: str, **fields: object) -> bytes:
        return _data({"type": kind, **fields}, kind)

    usage = {"input_tokens": 42, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}
    message = {"id": "msg_bench", "type": "message", "role": "assistant", "model": _MODEL, "content": []}
    beginning = [
        frame("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": usage}),
        frame("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        frame("ping"),
    ]
    deltas = [
        frame("content_block_delta", index=0, delta={"type": "text_delta", "text": text}) for text in _text(events)
    ]
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    return (
        beginning,
        deltas,
        [
            frame("content_block_stop", index=0),
            frame("message_delta", delta=stop, usage={**usage, "output_tokens": 200}),
            frame("message_stop"),
        ],
    )


def _gemini(events: int) -> Frames:
    def frame(text: str, tokens: int, **more: object) -> bytes:
        candidate = {"content": {"parts": [{"text": text}], "role": "model"}, "index": 0, **more}
        counts = {"promptTokenCount": 42, "candidatesTokenCount": tokens, "totalTokenCount": 42 + tokens}
        details = {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": 42}]}
        about = {"modelVersion": _MODEL, "responseId": "BenchBenchBenchBench"}
        return _data({"candidates": [candidate], "usageMetadata": {**counts, **details}, **about}, end=b"\r\n")

    deltas = [frame(text, number) for number, text in enumerate(_text(events), 1)]
    return [], deltas, [frame("", events, finishReason="STOP")]


_WRITERS: dict[str, Callable[[int], Frames]] = {
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "anthropic-messages": _anthropic,
    "gemini": _gemini,
}
# By what follows the port in a URL: how a request names its dialect.
PATHS = {
    "openrouter-chat": ("/api/v1", b"POST /api/v1/chat/completions"),
    "openai-chat": ("/v1", b"POST /v1/chat/completions"),
    "openai-responses": ("/v1", b"POST /v1/responses"),
    "anthropic-messages": ("", b"POST /v1/messages"),
    "gemini": ("", b"POST /v1beta/models/"),
}


def dialect_of(request: bytes) -> str:
    """Return the dialect of a request."""
    return next((name for name, (_, start) in PATHS.items() if request.startswith(start)), "openrouter-chat")
