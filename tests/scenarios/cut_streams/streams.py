"""Ten answers as real providers send them, each as frames and as one body, and small enough to cut at every byte."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

LF, CRLF = b"\n", b"\r\n"
KEEP_ALIVE = b": OPENROUTER PROCESSING"
USAGE = {"prompt_tokens": 31, "completion_tokens": 17, "total_tokens": 48, "cost": 0.000042}
SEARCH, NOTE = "search_web", "save_note"


@dataclass(frozen=True)
class Stream:
    """One answer.

    `frames` are the SSE frames with their blank lines; `body` is the same answer as one body.
    """

    name: str
    model: str
    frames: tuple[bytes, ...]
    body: bytes

    @property
    def raw(self) -> bytes:
        return b"".join(self.frames)

    @property
    def has_calls(self) -> bool:
        return b'"tool_calls":[' in self.raw

    def borders(self) -> list[int]:
        """Return the positions between frames, including before the first and after the last."""
        ends = [0]
        for frame in self.frames:
            ends.append(ends[-1] + len(frame))
        return ends

    def reads(self, cut: int) -> list[bytes]:
        """Return the bytes before a position, one read per frame."""
        borders = self.borders()
        pieces = (frame[: max(cut - at, 0)] for at, frame in zip(borders, self.frames, strict=False))
        return [piece for piece in pieces if piece]


@dataclass(frozen=True)
class _Host:
    """A provider and its format."""

    model: str
    provider: str
    line: bytes = LF

    def chunk(
        self, delta: dict[str, Any], *, finish: str | None = None, native: str | None = None, **more: Any
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "native_finish_reason": native}
        value = {"id": "gen-1", "provider": self.provider, "model": self.model, "choices": [choice], **more}
        return self.frame(b"data: " + _json(value))

    def frame(self, line: bytes) -> bytes:
        return line + self.line * 2

    def ends(self, finish: str, native: str) -> list[bytes]:
        """Return the usual end: the finish reason, the finish reason with usage, and the sentinel."""
        said = {"role": "assistant", "content": ""}
        return [
            self.chunk(said, finish=finish, native=native),
            self.chunk(said, finish=finish, native=native, usage=USAGE),
            self.frame(b"data: [DONE]"),
        ]

    def body(self, message: dict[str, Any], finish: str, native: str) -> bytes:
        said = {"role": "assistant", "content": None, **message}
        choice = {"index": 0, "message": said, "finish_reason": finish, "native_finish_reason": native}
        value = {"id": "gen-1", "provider": self.provider, "model": self.model, "choices": [choice], "usage": USAGE}
        return _json(value)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _text(content: str) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def _thought(text: str, style: str) -> dict[str, Any]:
    detail = {"type": "reasoning.text", "text": text, "format": style, "index": 0}
    return {"role": "assistant", "content": "", "reasoning": text, "reasoning_details": [detail]}


def _piece(index: int, arguments: str, *, name: str | None = None, call_id: str | None = None) -> dict[str, Any]:
    """Return a piece of a call; only the first has an id and a name."""
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    call = {"index": index, "function": function}
    if name:
        call |= {"id": call_id, "type": "function"}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _whole(name: str, arguments: str, call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def text_only() -> Stream:
    """Text in three pieces, with multi-byte characters."""
    host = _Host("openai/gpt-4o", "Azure")
    texts = ["High tide", " comes twice a day – ещё раз", ", ≈12 h apart 🌊."]
    frames = [*(host.chunk(_text(text)) for text in texts), *host.ends("stop", "stop")]
    return Stream("text", host.model, tuple(frames), host.body({"content": "".join(texts)}, "stop", "stop"))


def reasoning_then_text() -> Stream:
    """Reasoning in its own field without details, then text that the limit cuts."""
    host = _Host("deepseek/deepseek-r1", "DeepSeek")
    thoughts, texts = ["The moon", " pulls."], ["The moon", " pulls the"]
    frames = [
        *(host.chunk({"role": "assistant", "content": "", "reasoning": thought}) for thought in thoughts),
        *(host.chunk(_text(text)) for text in texts),
        *host.ends("length", "length"),
    ]
    message = {"content": "".join(texts), "reasoning": "".join(thoughts)}
    return Stream("length", host.model, tuple(frames), host.body(message, "length", "length"))


def eager_call() -> Stream:
    """One search with arguments in pieces, and nothing before it."""
    host = _Host("openai/gpt-4o", "OpenAI")
    pieces = ['{"que', 'ry":"tide', 's {today}"}']
    frames = [
        host.chunk(_piece(0, "", name=SEARCH, call_id="call_a")),
        *(host.chunk(_piece(0, piece)) for piece in pieces),
        *host.ends("tool_calls", "tool_calls"),
    ]
    message = {"tool_calls": [_whole(SEARCH, "".join(pieces), "call_a")]}
    return Stream("eager", host.model, tuple(frames), host.body(message, "tool_calls", "tool_calls"))


def writing_call() -> Stream:
    """One call with a side effect, which may run only after its step has ended well."""
    host = _Host("openai/gpt-4o", "OpenAI")
    pieces = ['{"title":"Tides",', '"text":"Twice', ' a day."}']
    frames = [
        host.chunk(_piece(0, "", name=NOTE, call_id="call_b")),
        *(host.chunk(_piece(0, piece)) for piece in pieces),
        *host.ends("tool_calls", "tool_calls"),
    ]
    message = {"tool_calls": [_whole(NOTE, "".join(pieces), "call_b")]}
    return Stream("writing", host.model, tuple(frames), host.body(message, "tool_calls", "tool_calls"))


def parallel_calls() -> Stream:
    """Two calls in sequence: a read-only one and one with a side effect."""
    host = _Host("x-ai/grok-4", "xAI")
    note = '{"title":"T","text":"x}"}'
    frames = [
        host.chunk(_piece(0, '{"query":', name=SEARCH, call_id="call_c")),
        host.chunk(_piece(0, '"ebb"}')),
        host.chunk(_piece(1, "", name=NOTE, call_id="call_d")),
        host.chunk(_piece(1, note[:15])),
        host.chunk(_piece(1, note[15:])),
        *host.ends("tool_calls", "tool_calls"),
    ]
    message = {"tool_calls": [_whole(SEARCH, '{"query":"ebb"}', "call_c"), _whole(NOTE, note, "call_d")]}
    return Stream("parallel", host.model, tuple(frames), host.body(message, "tool_calls", "tool_calls"))


def text_and_call() -> Stream:
    """Text before a call with a side effect."""
    host = _Host("openai/gpt-4.1", "OpenAI")
    note = '{"title":"Sea","text":"Salt."}'
    frames = [
        host.chunk(_text("I write")),
        host.chunk(_text(" that down.")),
        host.chunk(_piece(0, note, name=NOTE, call_id="call_e")),
        *host.ends("tool_calls", "tool_calls"),
    ]
    message = {"content": "I write that down.", "tool_calls": [_whole(NOTE, note, "call_e")]}
    return Stream("text and call", host.model, tuple(frames), host.body(message, "tool_calls", "tool_calls"))


def gemini_like() -> Stream:
    """A call in one piece, with a signature in an encrypted detail that names the call."""
    host = _Host("google/gemini-3-flash", "Google AI Studio")
    detail = {
        "type": "reasoning.encrypted",
        "data": "EjQKMgEM+dbH/Q==",
        "format": "google-gemini-v1",
        "id": "tool_0_note",
    }
    note = '{"text":"Ebb.","title":"E"}'
    call = _piece(0, note, name=NOTE, call_id="tool_0_note")
    frames = [
        host.chunk({**call, "reasoning": None}),
        host.chunk({"role": "assistant", "content": "", "reasoning_details": [{**detail, "index": 0}]}),
        *host.ends("tool_calls", "STOP"),
    ]
    message = {"tool_calls": [_whole(NOTE, note, "tool_0_note")], "reasoning_details": [{**detail, "index": 0}]}
    return Stream("gemini", host.model, tuple(frames), host.body(message, "tool_calls", "STOP"))


def anthropic_like() -> Stream:
    """Thinking, a signature as a separate piece, then a call whose arguments begin empty."""
    host = _Host("anthropic/claude-sonnet-4.5", "Anthropic")
    style, thoughts = "anthropic-claude-v1", ["I look", " it up."]
    signature = {"type": "reasoning.text", "signature": "ErUBCkYIBxgC==", "format": style, "index": 0}
    frames = [
        *(host.chunk(_thought(thought, style)) for thought in thoughts),
        host.chunk({"role": "assistant", "content": "", "reasoning_details": [signature]}),
        host.chunk(_piece(0, "", name=SEARCH, call_id="toolu_1")),
        host.chunk(_piece(0, '{"query": "flood"}')),
        *host.ends("tool_calls", "tool_use"),
    ]
    message = {
        "content": "",
        "reasoning": "".join(thoughts),
        "reasoning_details": [{**signature, "text": "".join(thoughts)}],
        "tool_calls": [_whole(SEARCH, '{"query": "flood"}', "toolu_1")],
    }
    return Stream("anthropic", host.model, tuple(frames), host.body(message, "tool_calls", "tool_use"))


def kept_alive() -> Stream:
    """Comments between frames and CRLF line ends; usage in a chunk without choices."""
    host = _Host("qwen/qwen3-max", "Alibaba", CRLF)
    alive = host.frame(KEEP_ALIVE)
    parse = _json({"id": "gen-1", "model": host.model, "choices": [], "usage": USAGE})
    frames = [
        alive,
        alive,
        host.chunk(_text("Spring")),
        alive,
        host.chunk(_text(" tides, neap tides.")),
        host.chunk({}, finish="stop", native="stop"),
        host.frame(b"data: " + parse),
        host.frame(b"data: [DONE]"),
    ]
    return Stream(
        "kept alive", host.model, tuple(frames), host.body({"content": "Spring tides, neap tides."}, "stop", "stop")
    )


def withheld() -> Stream:
    """Text, then a refusal in its own field and the finish reason content_filter."""
    host = _Host("openai/gpt-4o", "Azure")
    frames = [
        host.chunk(_text("The recipe")),
        host.chunk({"role": "assistant", "refusal": "I cannot"}),
        host.chunk({"refusal": " help."}),
        *host.ends("content_filter", "content_filter"),
    ]
    message = {"content": "The recipe", "refusal": "I cannot help."}
    return Stream("withheld", host.model, tuple(frames), host.body(message, "content_filter", "content_filter"))


STREAMS: dict[str, Stream] = {
    stream.name: stream
    for stream in (
        text_only(),
        reasoning_then_text(),
        eager_call(),
        writing_call(),
        parallel_calls(),
        text_and_call(),
        gemini_like(),
        anthropic_like(),
        kept_alive(),
        withheld(),
    )
}
LARGEST = 4096


@cache
def answer(text: str) -> Stream:
    """Return the fixed answer that follows a step of calls."""
    host = _Host("openai/gpt-4o", "OpenAI")
    frames = (host.chunk(_text(text)), *host.ends("stop", "stop"))
    return Stream("answer", host.model, frames, host.body({"content": text}, "stop", "stop"))


def broken_off(model: str) -> bytes:
    """Return the chunk with which OpenRouter reports that a provider failed in mid-stream."""
    error = {"code": 502, "message": "Provider disconnected", "metadata": {"error_type": "provider_unavailable"}}
    choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
    value = {"id": "gen-1", "provider": "OpenAI", "model": model, "error": error, "choices": [choice]}
    return b"data: " + _json(value) + b"\n\n"
