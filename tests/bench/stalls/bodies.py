"""Hostile request bodies: each shape makes one step between the body and the upstream request expensive."""

from collections.abc import Callable
from typing import Any

import orjson

Body = dict[str, Any]
QUESTION = {"role": "user", "content": "Go on."}


def _call(call_id: str, arguments: Any = "{}", name: str = "work") -> Body:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _result(call_id: str, content: Any = "ok") -> Body:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def _calls(calls: list[Body]) -> Body:
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _filled(size: int, unit: Callable[[int], Any]) -> list[Any]:
    """Return as many values of `unit` as fit into `size` bytes."""
    return [unit(place) for place in range(max(1, size // (len(orjson.dumps(unit(10_000))) + 1)))]


def _with_results(calls: list[Body], *, backwards: bool = False) -> Body:
    results = [_result(call["id"]) for call in calls]
    return {"messages": [QUESTION, _calls(calls), *(reversed(results) if backwards else results), QUESTION]}


def _turns_of_calls(size: int, turn: Callable[[int], list[Body]]) -> Body:
    """Repeat a turn of calls and results, so that each message stays below the limits per message."""
    return {"messages": [QUESTION, *(m for messages in _filled(size, turn) for m in messages), QUESTION]}


def _tool_result_of(text: str) -> Body:
    return {"messages": [QUESTION, _calls([_call("call_1")]), _result("call_1", text)]}


def nested(depth: int) -> Any:
    """Return a list nested this deep."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def _repeated(piece: str, size: int) -> str:
    return piece * max(1, size // (len(orjson.dumps(piece)) - 2))


BODIES: dict[str, Callable[[int], Body]] = {
    # --- calls and results ---
    "calls of one id": lambda n: _with_results(_filled(n // 2, lambda _: _call("call_1"))),
    "calls of one id, 0.6 MB": lambda n: _with_results(_filled(min(n, 600_000) // 2, lambda _: _call("call_1"))),
    "calls of distinct ids": lambda n: _with_results(_filled(n // 2, lambda i: _call(f"call_{i}"))),
    "results in reversed order": lambda n: _with_results(
        _filled(min(n // 2, 900_000), lambda i: _call(f"call_{i}")), backwards=True
    ),
    "results without calls": lambda n: {"messages": [QUESTION, *_filled(n, lambda i: _result(f"call_{i}")), QUESTION]},
    "calls without results": lambda n: {
        "messages": [QUESTION, _calls(_filled(n, lambda i: _call(f"call_{i}"))), QUESTION]
    },
    "turns of 100 calls of one id": lambda n: _turns_of_calls(
        n, lambda _: [_calls([_call("call_1")] * 100), *[_result("call_1")] * 5]
    ),
    "turns of 100 calls, results reversed": lambda n: _turns_of_calls(
        n,
        lambda _: [
            _calls([_call(f"call_{i}") for i in range(100)]),
            *(_result(f"call_{i}") for i in reversed(range(5))),
        ],
    ),
    "turns of 100 calls of one id with a text": lambda n: _turns_of_calls(
        n,
        lambda _: [
            _calls([_call("call_1", '{"text":"' + "x" * 300 + '"}')] * 100),
            *[_result("call_1", "x" * 300)] * 5,
        ],
    ),
    "many results of one call of long arguments": lambda n: {
        "messages": [
            QUESTION,
            _calls([_call("call_1", orjson.dumps({"q": _repeated("http://a.b/c ", n // 2)}).decode())]),
            *_filled(n // 2, lambda _: _result("call_1", "see https://example.org/page")),
        ][:9_000]
    },
    "arguments nested": lambda n: {
        "messages": [
            QUESTION,
            _calls(_filled(n, lambda i: _call(f"call_{i}", orjson.dumps({"a": nested(60)}).decode()))),
            QUESTION,
        ]
    },
    "arguments as one object": lambda n: {
        "messages": [QUESTION, _calls([_call("call_1", {f"key{i}": i for i in range(n // 16)})]), QUESTION]
    },
    "arguments as one text": lambda n: {
        "messages": [
            QUESTION,
            _calls([_call("call_1", orjson.dumps({f"key{i}": i for i in range(n // 20)}).decode())]),
            QUESTION,
        ]
    },
    "arguments not JSON": lambda n: {
        "messages": [QUESTION, _calls(_filled(n, lambda i: _call(f"call_{i}", "{" * 1000))), QUESTION]
    },
    # --- messages and parts ---
    "messages": lambda n: {"messages": _filled(n, lambda _: QUESTION)},
    "9,999 messages": lambda n: {"messages": [{"role": "user", "content": "x" * (n // 10_000)}] * 9_999},
    "system messages": lambda n: {"messages": [*_filled(n, lambda _: {"role": "system", "content": "x"}), QUESTION]},
    "parts in a message": lambda n: {
        "messages": [{"role": "user", "content": _filled(n, lambda _: {"type": "text", "text": "x"})}]
    },
    "blank parts": lambda n: {
        "messages": [{"role": "user", "content": _filled(n, lambda _: {"type": "text", "text": ""})}]
    },
    "images by address": lambda n: {
        "messages": [
            {
                "role": "user",
                "content": _filled(n, lambda i: {"type": "image_url", "image_url": {"url": f"http://{i}"}}),
            }
        ]
    },
    "an image as a data URL": lambda n: {
        "messages": [
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * n}}],
            }
        ]
    },
    "details of reasoning": lambda n: {
        "messages": [
            QUESTION,
            {
                "role": "assistant",
                "content": "x",
                "reasoning_details": _filled(n, lambda i: {"type": "reasoning.text", "index": i, "text": "x"}),
            },
            QUESTION,
        ]
    },
    # --- texts ---
    "one text": lambda n: {"prompt": "x" * n},
    "blank text": lambda n: {"prompt": " " * n},
    "line ends": lambda n: {"prompt": "x" + "\n" * (n // 2)},
    "zero bytes": lambda n: {"prompt": "x" + "\0" * (n // 6)},
    "letters outside the BMP": lambda n: {"prompt": _repeated("\U0001f600", n)},
    "marks in the worst order": lambda n: {"prompt": "a" + "\u0301" * (n // 4) + "\u0323" * (n // 4)},
    "ligatures that decompose": lambda n: {"prompt": _repeated("\ufdfa", n)},
    "marks of Markdown": lambda n: {"prompt": _repeated("[*_`~", n)},
    "underscores": lambda n: {"prompt": "a" + "_" * n + "a"},
    "dashes": lambda n: {"prompt": _repeated("- - -", n) + "x"},
    "a result of delimiters": lambda n: _tool_result_of(_repeated("<outside-1>\n", n)),
    "a result of closing delimiters": lambda n: _tool_result_of(_repeated("</o\u200bu", n)),
    "a result of angles": lambda n: _tool_result_of("<" * n),
    "a result of angles and o": lambda n: _tool_result_of(_repeated("<<<<<<<<o", n)),
    "a result of wide angles": lambda n: _tool_result_of(_repeated("＜", n)),
    "a result of control tokens": lambda n: _tool_result_of(_repeated("<|im_start|>", n)),
    "a result of entities": lambda n: _tool_result_of(_repeated("&#0000060", n)),
    "a result of zeros in an entity": lambda n: _tool_result_of("&#" + "0" * n),
    "a result of marks": lambda n: _tool_result_of(_repeated("<o" + "\u0301" * 15 + "\u0323" * 15, n)),
    "addresses": lambda n: {"prompt": _repeated("http://", n)},
    "short addresses": lambda n: {"prompt": _repeated("http://a ", n)},
    "bare addresses": lambda n: {"prompt": _repeated("a.b.c.", n)},
    "a result of addresses": lambda n: _tool_result_of(_repeated("http://a.bc/(( ", n)),
    # --- numbers, keys, schemas ---
    "a number of many digits": lambda n: {"prompt": "x", "seed": "@digits"},
    "long keys": lambda n: {"prompt": "x", "metadata": {"k" * n: "v"}},
    "unknown fields": lambda n: {"prompt": "x", **{f"field{i}": 1 for i in range(n // 14)}},
    "unknown fields in messages": lambda n: {
        "messages": _filled(min(n, 400_000), lambda _: {**QUESTION, **{f"f{i}": 1 for i in range(40)}})
    },
    "wrong messages": lambda n: {"messages": _filled(min(n, 400_000), lambda _: {"role": "user", "content": 1})},
    "a schema of many patterns": lambda n: {
        "prompt": "x",
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "x",
                "schema": {"properties": {f"p{i}": {"pattern": "(a+)+$"} for i in range(n // 32)}},
            },
        },
    },
    "a schema of references": lambda n: {
        "prompt": "x",
        "response_format": {"$defs": {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(n // 36)}},
    },
    "provider preferences": lambda n: {"prompt": "x", "provider": {"order": _filled(n, lambda i: f"host{i}")}},
    "logit bias": lambda n: {"prompt": "x", "logit_bias": {str(i): 1 for i in range(n // 10)}},
    "metadata": lambda n: {"prompt": "x", "metadata": {f"k{i}": "v" * (n // 16) for i in range(16)}},
    "stop texts": lambda n: {"prompt": "x", "stop": ["s" * (n // 16)] * 16},
    "fallback models": lambda n: {"prompt": "x", "models": ["m" * (n // 16)] * 16},
    "names of tools": lambda n: {"prompt": "x", "tools": ["t" * n]},
    "a long name in a call": lambda n: {"messages": [QUESTION, _calls([_call("c", "{}", "n" * n)]), QUESTION]},
    "a long id in calls": lambda n: {
        "messages": [QUESTION, _calls([_call("c" * (n // 100))] * 50), *[_result("c" * (n // 100))] * 50]
    },
    "a long conversation id": lambda n: {"prompt": "x", "conversation_id": "c" * n},
}
