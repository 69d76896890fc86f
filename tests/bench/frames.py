"""What the bench's upstream says: whole OpenRouter answers as bytes, put together once."""

from dataclasses import dataclass
from functools import cache

import orjson

_WORDS = ("the", " quick", " brown", " fox", " jumps", " over", " a", " lazy", " dog", ".\n")
_PIECE = "abcdefghijklmnopqrst"
_USAGE = {
    "prompt_tokens": 42,
    "completion_tokens": 200,
    "total_tokens": 242,
    "cost": 0.000123,
    "is_byok": False,
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "cost_details": {"upstream_inference_cost": None, "upstream_inference_prompt_cost": 0.00001},
    "completion_tokens_details": {"reasoning_tokens": 0, "image_tokens": 0},
}
HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n"
    b"x-generation-id: gen-1763600000-BenchBenchBenchBen\r\ntransfer-encoding: chunked\r\n\r\n"
)
COMMENT = b": OPENROUTER PROCESSING\n\n"


@dataclass(frozen=True, slots=True)
class Script:
    """One answer: its deltas as HTTP chunks, its ending, and how many deltas go out per second (0: all at once)."""

    deltas: tuple[bytes, ...]
    ending: bytes
    rate: float = 0.0

    @property
    def whole(self) -> bytes:
        """The whole answer in one piece."""
        return b"".join((HEAD, chunk(COMMENT), *self.deltas, self.ending))


def chunk(data: bytes) -> bytes:
    """Frame bytes as one HTTP chunk; OpenRouter sends one per event."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def scripted(name: str) -> Script:
    """Return the script a model is named for: `burst-200`, `paced-50-200`, `tools`, `longargs-1000000`."""
    kind, *numbers = name.split("-")
    match kind, [int(number) for number in numbers]:
        case "burst", [events]:
            return Script(_text(events), _ending("stop"))
        case "paced", [rate, events]:
            return Script(_text(events), _ending("stop"), rate=rate)
        case "tools", []:
            return Script((*_call(0, 2_000), *_call(1, 2_000)), _ending("tool_calls"))
        case "longargs", [size]:
            return Script(_call(0, size), _ending("tool_calls"))
        case _:
            raise ValueError(f"no script is called {name!r}")


def _text(events: int) -> tuple[bytes, ...]:
    words = [_frame({"role": "assistant", "content": word}) for word in _WORDS]
    return tuple(words[place % len(words)] for place in range(events))


def _call(index: int, size: int) -> tuple[bytes, ...]:
    """Return one call of `work` whose arguments are `size` bytes long, in deltas of 20 bytes."""
    opening, closing = '{"text":"', '"}'
    filler = size - len(opening) - len(closing)
    head = {"index": index, "id": f"call_bench{index:014}", "type": "function"}
    return (
        _frame(_calling({**head, "function": {"name": "work", "arguments": ""}})),
        _arguments(index, opening),
        *[_arguments(index, _PIECE)] * (filler // len(_PIECE)),
        _arguments(index, _PIECE[: filler % len(_PIECE)] + closing),
    )


@cache
def _arguments(index: int, piece: str) -> bytes:
    return _frame(_calling({"index": index, "type": "function", "function": {"arguments": piece}}))


def _calling(call: dict[str, object]) -> dict[str, object]:
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _ending(reason: str) -> bytes:
    last = _frame({"role": "assistant", "content": ""}, reason)
    bill = _frame({"role": "assistant", "content": ""}, usage=_USAGE)
    return b"".join((last, bill, chunk(b"data: [DONE]\n\n"), b"0\r\n\r\n"))


def _frame(delta: dict[str, object], reason: str | None = None, usage: dict[str, object] | None = None) -> bytes:
    value: dict[str, object] = {
        "id": "gen-1763600000-BenchBenchBenchBen",
        "provider": "OpenAI",
        "model": "openai/gpt-4o-mini",
        "object": "chat.completion.chunk",
        "created": 1763600000,
        "choices": [
            {
                "index": 0,
                "delta": delta,
                "finish_reason": reason,
                "native_finish_reason": reason,
                "logprobs": None,
            }
        ],
        "system_fingerprint": "fp_560af6e559",
    }
    if usage is not None:
        value["usage"] = usage
    return chunk(b"data: %b\n\n" % orjson.dumps(value))
