"""Hostile requests to each endpoint: the bodies of `bodies.py`, odd JSON, saves, long conversations."""

from collections.abc import Callable
from secrets import token_hex

import orjson

from tests.bench.stalls.bodies import BODIES, QUESTION, Body, nested
from tests.bench.stalls.shapes import SHAPES, Shape, Target, shape


def _send_body(make: Callable[[int], Body], *, is_kept: bool = False) -> Callable[[Target, int], str]:
    def drive(target: Target, size: int) -> str:
        body = make(size)
        more = {"conversation_id": token_hex(8)} if is_kept else {}
        if body.get("seed") == "@digits":
            text = orjson.dumps({"model": "bench/fast-1", **body}).replace(b'"@digits"', b"9" * size)
            return target.send("POST", "/api/chat/stream", text)
        return target.ask({**body, **more})

    return drive


for _name, _make in BODIES.items():
    SHAPES[_name] = Shape(_name, _send_body(_make))

# The same bodies in a stored conversation, which adds positions, titles, search text and writes of messages.
for _name in (
    "one text",
    "9,999 messages",
    "turns of 100 calls of one id",
    "parts in a message",
    "line ends",
    "marks in the worst order",
    "ligatures that decompose",
    "marks of Markdown",
    "underscores",
    "dashes",
    "a result of delimiters",
):
    SHAPES[f"in a conversation: {_name}"] = Shape(
        f"in a conversation: {_name}", _send_body(BODIES[_name], is_kept=True)
    )


@shape("with an idempotency key: details of reasoning")
def _keyed(target: Target, size: int) -> str:
    return target.ask(BODIES["details of reasoning"](size), **{"idempotency-key": token_hex(8)})


@shape("with an idempotency key: 9,999 messages")
def _keyed_messages(target: Target, size: int) -> str:
    return target.ask(BODIES["9,999 messages"](size), **{"idempotency-key": token_hex(8)})


@shape("a list of numbers")
def _numbers(target: Target, size: int) -> str:
    return target.send("POST", "/api/chat/stream", b'{"prompt":[' + b"1," * (size // 2) + b"1]}")


@shape("an object of keys")
def _keys(target: Target, size: int) -> str:
    keys = b",".join(b'"k%d":1' % place for place in range(size // 13))
    return target.send("POST", "/api/chat/stream", b'{"prompt":"x","provider":{' + keys + b"}}")


@shape("one key again and again")
def _same_key(target: Target, size: int) -> str:
    return target.send("POST", "/api/chat/stream", b"{" + b'"prompt":"x",' * (size // 13) + b'"model":"bench/fast-1"}')


@shape("brackets without end")
def _brackets(target: Target, size: int) -> str:
    return target.send("POST", "/api/chat/stream", b"[" * size)


@shape("escapes")
def _escapes(target: Target, size: int) -> str:
    return target.send("POST", "/api/chat/stream", b'{"prompt":"' + b"\\u0000" * (size // 6) + b'"}')


@shape("half surrogates")
def _surrogates(target: Target, size: int) -> str:
    return target.send("POST", "/api/chat/stream", b'{"prompt":"' + b"\\ud800" * (size // 6) + b'"}')


@shape("a save with data")
def _saved(target: Target, size: int) -> str:
    data = orjson.dumps({"run_id": "x", "data": {"a": [[1] * 8] * (size // 18)}})
    return target.send("POST", "/api/saves", data)


@shape("a save with nested data")
def _saved_nested(target: Target, size: int) -> str:
    data = orjson.dumps({"run_id": "x", "data": {f"k{i}": nested(50) for i in range(size // 110)}})
    return target.send("POST", "/api/saves", data)


@shape("a title")
def _titled(target: Target, size: int) -> str:
    return target.send("POST", "/api/conversations", orjson.dumps({"title": "a" + "\u0301\u0323" * (size // 4)}))


def _long_conversation(target: Target, size: int) -> str:
    turns = max(2, min(size // 800, 9_998)) // 2
    messages = [{"role": ("user", "assistant")[place % 2], "content": "word " * 150} for place in range(2 * turns)]
    return target.ask({"messages": [*messages, QUESTION], "conversation_id": f"long-{size}"})


@shape("a question in a long conversation", prepare=_long_conversation)
def _asked_there(target: Target, size: int) -> str:
    return target.ask({"prompt": "Go on.", "conversation_id": f"long-{size}"})


@shape("a whole history sent again", prepare=_long_conversation)
def _sent_again(target: Target, size: int) -> str:
    return _long_conversation(target, size)


@shape("a long conversation opened", prepare=_long_conversation)
def _opened(target: Target, size: int) -> str:
    return target.send("GET", f"/api/conversations/long-{size}")


@shape("a long conversation exported", prepare=_long_conversation)
def _exported(target: Target, size: int) -> str:
    return target.send("GET", f"/api/conversations/long-{size}/export?format=json")


@shape("a long conversation exported as Markdown", prepare=_long_conversation)
def _as_markdown(target: Target, size: int) -> str:
    return target.send("GET", f"/api/conversations/long-{size}/export")


@shape("a search in a long conversation", prepare=_long_conversation)
def _searched(target: Target, size: int) -> str:
    return target.send("GET", "/api/conversations?search=" + "word%20" * 20)


def _large_conversation(target: Target, size: int) -> str:
    for _ in range(4):
        target.ask({"prompt": "word " * (size // 5), "conversation_id": f"large-{size}"})
    return ""


@shape("a question in a conversation four times as large", prepare=_large_conversation)
def _asked_in_large(target: Target, size: int) -> str:
    return target.ask({"prompt": "Go on.", "conversation_id": f"large-{size}"})


def _branches(target: Target, size: int) -> str:
    for place in range(40):
        body = {"prompt": f"{place} " + "x" * (size // 40), "conversation_id": f"tree-{size}", "parent_id": None}
        target.ask(body)
    return ""


@shape("a branch beside many", prepare=_branches)
def _branched(target: Target, size: int) -> str:
    return target.ask({"prompt": "And?", "conversation_id": f"tree-{size}", "parent_id": None})
