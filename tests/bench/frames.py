"""The answers of the Python upstream: OpenRouter's SSE frames, one HTTP chunk each."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import orjson

_PIECE = "abcdefghijklmnopqrst"
# A line of a file, with as many quotes as pages have.
_LINE = '<p class="a">A line of the length that a page usually has.</p>\n'
STAMP = b"@0000000000000000@"
# The second call of an overlap streams for half a second.
_OVERLAP_SECONDS, _OVERLAP_DELTAS = 0.5, 28
_USAGE = {
    "prompt_tokens": 42,
    "completion_tokens": 200,
    "total_tokens": 242,
    "cost": 0.000123,
    "is_byok": False,
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "cost_details": {"upstream_inference_cost": None},
    "completion_tokens_details": {"reasoning_tokens": 0, "image_tokens": 0},
}
HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    b"cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class Script:
    """An answer: deltas, final frames, seconds between deltas (0: none), and the deltas that are sent at once first."""

    deltas: tuple[bytes, ...]
    ending: bytes
    period: float = 0.0
    at_once: int = 1

    def encode(self, first: int, most: int, microseconds: int) -> bytes:
        """Return up to `most` deltas from `first`, with the current time as their text."""
        return b"".join(self.deltas[first : first + most]).replace(STAMP, b"@%016d@" % microseconds)


def chunk(data: bytes) -> bytes:
    """Return bytes as one HTTP chunk."""
    return b"%x\r\n%b\r\n" % (len(data), data)


COMMENT = chunk(b": OPENROUTER PROCESSING\n\n")


@cache
def script_named(name: str) -> Script:
    """Return the script that a model's name describes; the C upstream lacks `calls-N`, `file-…` and `write-N`."""
    for pattern, make in _SCRIPTS.items():
        if found := re.fullmatch(pattern, name):
            return make(*(int(number) for number in found.groups()))
    raise ValueError(f"no script is called {name!r}")


def _text(events: int) -> Script:
    return Script((_frame({"role": "assistant", "content": f"{STAMP.decode()} "}),) * events, _final_frames("stop"))


def _paced(rate: int, events: int) -> Script:
    script = _text(events)
    return Script(script.deltas, script.ending, period=1 / rate)


def _tools() -> Script:
    return Script((*_call_frames(0, 100), *_call_frames(1, 100)), _final_frames("tool_calls"))


def _longargs(size: int) -> Script:
    return Script(_call_frames(0, size // len(_PIECE)), _final_frames("tool_calls"))


def _file(rate: int, size: int) -> Script:
    """Return one call of create_file whose content has `size` characters, in `rate` deltas per second."""
    content = (_LINE * (size // len(_LINE) + 1))[:size]
    pieces = [orjson.dumps(content[at : at + len(_PIECE)]).decode()[1:-1] for at in range(0, size, len(_PIECE))]
    head = {"index": 0, "id": "call_benchfile", "type": "function"}
    deltas = (
        _frame(_tool_call_delta({**head, "function": {"name": "create_file", "arguments": ""}})),
        *(_arguments_frame(0, text) for text in ('{"path":"index.html","content":"', *pieces, '"}')),
    )
    return Script(deltas, _final_frames("tool_calls"), period=1 / rate)


def deltas_of_file(size: int) -> int:
    """Return the number of deltas of a file's call."""
    return len(_file(1, size).deltas)


def _write(size: int) -> Script:
    """Return one call of `write`, whose text is previewed."""
    return Script(_call_frames(0, size // len(_PIECE), name="write"), _final_frames("tool_calls"))


def _overlap(first: int, second: int) -> Script:
    """Return one call that is complete at once, and one that streams while the first may already run."""
    calls = (*_call_frames(0, 0, first), *_call_frames(1, _OVERLAP_DELTAS - 3, second))
    return Script(calls, _final_frames("tool_calls"), period=_OVERLAP_SECONDS / (len(calls) - 1), at_once=4)


def _calls(number: int) -> Script:
    return Script(
        tuple(delta for index in range(number) for delta in _call_frames(index, 0)), _final_frames("tool_calls")
    )


_SCRIPTS: dict[str, Callable[..., Script]] = {
    r"fast-(\d+)": _text,
    r"paced-(\d+)-(\d+)": _paced,
    r"tools": _tools,
    r"longargs-(\d+)": _longargs,
    r"file-(\d+)-(\d+)": _file,
    r"write-(\d+)": _write,
    r"overlap-(\d+)-(\d+)": _overlap,
    r"calls-(\d+)": _calls,
}


def _call_frames(index: int, pieces: int, milliseconds: int = 0, name: str = "work") -> tuple[bytes, ...]:
    """Return the frames of a call that takes `milliseconds` and has `pieces` pieces of text."""
    head = {"index": index, "id": f"call_bench{index:014}", "type": "function"}
    return (
        _frame(_tool_call_delta({**head, "function": {"name": name, "arguments": ""}})),
        _arguments_frame(index, f'{{"ms":{milliseconds},"text":"'),
        *[_arguments_frame(index, _PIECE)] * pieces,
        _arguments_frame(index, '"}'),
    )


def _arguments_frame(index: int, piece: str) -> bytes:
    return _frame(_tool_call_delta({"index": index, "function": {"arguments": piece}, "type": "function"}))


def _tool_call_delta(call: dict[str, object]) -> dict[str, object]:
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _final_frames(reason: str) -> bytes:
    last = _frame({"role": "assistant", "content": ""}, reason)
    usage = _frame({"role": "assistant", "content": ""}, usage=_USAGE)
    return b"".join((last, usage, chunk(b"data: [DONE]\n\n"), b"0\r\n\r\n"))


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
