"""Each quirk's bytes show the quirk, streamed and whole, read here without the simulator's or the decoder's code."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from signalbox.simulator import quirks
from signalbox.simulator.faults.scripted import example_ids, fault_of

from tests.unit.simulator.requests import FAMILIES, ask, result, run_tool
from tests.unit.simulator.test_faults import collect

Seen = Callable[["Answer"], Any]
DIALECTS = {
    "dsml": "<｜DSML｜tool_calls>",
    "dsml-v32": "<｜DSML｜function_calls>",
    "deepseek": "<｜tool▁calls▁begin｜>",
    "kimi": "<|tool_calls_section_begin|>",
    "kimi-k3": "<|open|>toolscall",
    "glm": "<tool_call>search_web\n<arg_key>query</arg_key>",
    "hermes": '<tool_call>\n{"name":"search_web"',
    "mimo": "<tool_call>\n<function=search_web>\n<parameter=query>",
    "anthropic": '<function_calls>\n<invoke name="search_web">',
    "mistral": '[TOOL_CALLS][{"name":"search_web"',
    "mistral-args": '[TOOL_CALLS]search_web[ARGS]{"query"',
}


PARAGRAPH = "This is the beginning of an answer"


@dataclass
class Answer:
    """An answer as its bytes tell it: every delta of a call on its own, nothing merged."""

    body: bytes
    whole: bool

    @property
    def lines(self) -> list[str]:
        return self.body.decode().split("\n")

    @property
    def chunks(self) -> list[dict[str, Any]]:
        if self.whole:
            return [json.loads(self.body)]
        data = [line.strip("\r").rpartition("data: ")[2] for line in self.lines if "data: {" in line]
        return [json.loads(text) for text in data]

    @property
    def choices(self) -> list[dict[str, Any]]:
        return [choice for chunk in self.chunks for choice in chunk.get("choices") or []]

    @property
    def deltas(self) -> list[dict[str, Any]]:
        return [choice.get("message" if self.whole else "delta") or {} for choice in self.choices]

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [call for delta in self.deltas for call in delta.get("tool_calls") or []]

    @property
    def text(self) -> str:
        return "".join(delta.get("content") or "" for delta in self.deltas)

    @property
    def reasoning(self) -> str:
        return "".join(delta.get("reasoning") or "" for delta in self.deltas)

    @property
    def details(self) -> list[dict[str, Any]]:
        return [detail for delta in self.deltas for detail in delta.get("reasoning_details") or []]

    @property
    def ids(self) -> list[Any]:
        return [call["id"] for call in self.calls if "id" in call]

    @property
    def names(self) -> list[Any]:
        return [call["function"]["name"] for call in self.calls if "name" in call["function"]]

    @property
    def pieces(self) -> list[str]:
        return [call["function"].get("arguments") or "" for call in self.calls]

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    @property
    def finishes(self) -> list[Any]:
        return [choice["finish_reason"] for choice in self.choices]

    @property
    def natives(self) -> set[Any]:
        return {choice["native_finish_reason"] for choice in self.choices} - {None}

    @property
    def error(self) -> dict[str, Any]:
        return self.chunks[-1].get("error") or {}

    @property
    def done(self) -> bool:
        return self.body.endswith(b"data: [DONE]\n\n")

    @property
    def usage(self) -> dict[str, Any]:
        return self.chunks[-1]["usage"]


def post(client: httpx.Client, quirk: str, *messages: Any, family: str = "deepseek", **fields: Any) -> Answer:
    """Ask a quirky model and give its bytes."""
    asked = messages or (f"Search for the tool loop {fields.pop('mark', '')}",)
    body = ask(f"{family}/sim-quirk-{quirk}", *asked, **fields)
    response = client.post("/chat/completions", json=body)
    assert response.status_code == 200, response.text
    return Answer(response.content, whole=body["stream"] is False)


def parses(text: str) -> bool:
    """Tell whether a text is JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError:
        return False
    return True


def values(text: str) -> list[Any]:
    """Read the JSON values at the beginning of a text, one behind the other."""
    found, at = [], 0
    while at < len(text):
        try:
            value, at = json.JSONDecoder().raw_decode(text, at)
        except json.JSONDecodeError:
            break
        found.append(value)
    return found


def headers(answer: Answer) -> list[dict[str, Any]]:
    """Give the deltas that name a tool."""
    return [call for call in answer.calls if call["function"].get("name")]


def is_search(answer: Answer) -> bool:
    """Tell whether the arguments are a sound search."""
    return isinstance(json.loads(answer.arguments)["query"], str)


def is_search_of_one(answer: Answer) -> bool:
    """Tell whether one sound search is asked, and nothing is odd about it."""
    return answer.names == ["search_web"] and is_search(answer)


def bare_search(answer: Answer) -> bool:
    """Tell whether a search is asked without a word."""
    return is_search(answer) and not answer.text


def spent(answer: Answer) -> bool:
    """Tell whether nothing but reasoning was said, and all tokens are gone."""
    gone = answer.usage["completion_tokens"] == 800 == answer.usage["completion_tokens_details"]["reasoning_tokens"]
    return gone and bool(answer.reasoning) and not answer.text and "length" in answer.finishes


def thinking(answer: Answer) -> list[dict[str, Any]]:
    """Give the deltas with reasoning details."""
    return [delta for delta in answer.deltas if delta.get("reasoning_details")]


def is_soon(metadata: dict[str, Any]) -> bool:
    """Tell whether a limit is over within a second, told in epoch milliseconds."""
    return -1 < float(metadata["headers"]["X-RateLimit-Reset"]) / 1000 - time.time() < 1


def glued(answer: Answer) -> list[str]:
    """Give the lines that hold a cut frame and a whole one, which says more than the cut one."""
    lines = [line for line in answer.lines if line.count("data: {") == 2]
    return [line for line in lines if parses(line.rpartition("data: ")[2]) and not parses(line[6:])]


def at_zero(answer: Answer) -> bool:
    """Tell whether every call is at index 0, and there are two of them."""
    return {call["index"] for call in answer.calls} == {0} and len(headers(answer)) == 2


def braces(text: str) -> int:
    """Count the braces that are open by the look of them."""
    return text.count("{") - text.count("}")


CALLS: dict[str, tuple[Seen, Seen | None]] = {
    "a01": (lambda a: at_zero(a) and len(set(a.ids)) == 2 and all(map(parses, a.pieces)), at_zero),
    "a01-fragmented": (
        lambda a: at_zero(a) and len(a.ids) == 2 and a.ids[0] != a.ids[1] and len(a.calls) == 8,
        at_zero,
    ),
    "a01-by-turns": (lambda a: at_zero(a) and a.ids == a.ids[:2] * 4 and a.ids[0] != a.ids[1], at_zero),
    "a01-same-name": (lambda a: at_zero(a) and a.names == ["search_web"] * 2 and len(a.calls) == 8, at_zero),
    "a01-no-id": (
        lambda a: at_zero(a) and not a.ids and all(map(parses, a.pieces)),
        lambda a: at_zero(a) and not a.ids,
    ),
    "a02": (
        lambda a: len(a.ids) == 2 and not any("index" in call for call in a.calls),
        lambda a: not any("index" in call for call in a.calls),
    ),
    "a02-null": (
        lambda a: {call["index"] for call in a.calls} == {None},
        lambda a: {call["index"] for call in a.calls} == {None},
    ),
    "a02-late": (
        lambda a: (
            all("index" not in call for call in headers(a))
            and [call["index"] for call in a.calls if "index" in call] == [0, 0, 0, 1, 1, 1]
        ),
        lambda a: not any("index" in call for call in a.calls),
    ),
    "a03": (
        lambda a: [call["index"] for call in first_with_calls(a)] == [0, 0] and parses(a.arguments),
        None,
    ),
    "a04-int": (lambda a: [type(i) for i in a.ids] == [int, int], lambda a: [type(i) for i in a.ids] == [int, int]),
    "a04-null": (lambda a: set(a.ids) == {None}, lambda a: a.ids == [None, None]),
    "a04-resent": (lambda a: len(a.ids) == len(a.calls) == 8 and len(set(a.ids)) == 2, None),
    "a04-late": (lambda a: [at for at, call in enumerate(a.calls) if "id" in call] == [2, 6], None),
    "a04-none": (lambda a: len(a.calls) == 8 and not a.ids, lambda a: len(a.calls) == 2 and not a.ids),
    "a05-resent": (lambda a: a.names == ["search_web"] * 4 + ["get_current_time"] * 4, None),
    "a05-blank": (lambda a: a.names == ["search_web", *[""] * 3, "get_current_time", *[""] * 3], None),
    "a05-nonstring": (lambda a: a.names[:4] == ["search_web", 42, 42, 42], None),
    "a05-split": (lambda a: a.names == ["search", "_web", "get_current", "_time"], None),
    "a17": (
        lambda a: (
            a.pieces[0] == "" and "name" not in a.calls[1]["function"] and "id" not in a.calls[1] and is_search(a)
        ),
        None,
    ),
    "a17-id": (
        lambda a: a.names == ["search_web"] and len(set(a.ids)) == 2 and {c["index"] for c in a.calls} == {0},
        None,
    ),
    "a17-nameless": (
        lambda a: "name" not in a.calls[-1]["function"] and a.calls[-1]["id"] and parses(a.pieces[-1]),
        lambda a: a.names == ["search_web", ""],
    ),
    "a18": (
        lambda a: is_search(a) and "}" in json.loads(a.arguments)["query"] and a.pieces.count("}") >= 3,
        lambda a: '} "' in a.arguments or '"}' in json.loads(a.arguments)["query"],
    ),
    "a12-blank": (
        lambda a: is_search(a) and "" in a.finishes and None not in a.finishes[:-1] and "tool_calls" in a.finishes,
        lambda a: is_search(a) and a.finishes == [""],
    ),
    "a12-overwritten": (
        lambda a: is_search(a) and a.finishes.index("tool_calls") < a.finishes.index("stop"),
        None,
    ),
    "a19": (
        lambda a: (
            not a.calls
            and "function_call" in a.finishes
            and json.loads("".join(d["function_call"]["arguments"] for d in a.deltas if "function_call" in d))["query"]
        ),
        lambda a: not a.calls and a.deltas[0]["function_call"]["name"] == "search_web",
    ),
}

# What is the same in both bodies.
SAID: dict[str, Seen] = {
    "a06-twice": lambda a: values(a.arguments)[0] == values(a.arguments)[1],
    "a06-split": lambda a: len(values(a.arguments)) == 2 and values(a.arguments)[0] != values(a.arguments)[1],
    "a06-tail": lambda a: len(values(a.arguments)) == 1 and a.arguments.count("{") == 2,
    "a06-leading": lambda a: values(a.arguments)[0] == {} and values(a.arguments)[1]["query"],
    "a07": lambda a: not parses(a.arguments) and braces(a.arguments) == 1 and "tool_calls" in a.finishes,
    "a07-length": lambda a: not parses(a.arguments) and "length" in a.finishes and "tool_calls" not in a.finishes,
    "a07-tokens": lambda a: (
        not parses(a.arguments)
        and braces(a.arguments) == 0
        and a.usage["completion_tokens"] == 800
        and "tool_calls" in a.finishes
    ),
    "a07-parses": lambda a: a.arguments == "{}" and a.names == ["search_web"] and "length" in a.finishes,
    "a08": lambda a: not values(a.arguments) and braces(a.arguments) == 0,
    "a09": lambda a: a.arguments == "" and a.names == ["get_current_time"],
    "a09-required": lambda a: a.arguments == "" and a.names == ["search_web"],
    "a10-double": lambda a: json.loads(json.loads(a.arguments))["query"],
    "a10-brace": lambda a: not parses(a.arguments) and parses(a.arguments[:-1]),
    "a10-prose": lambda a: not parses(a.arguments) and values(a.arguments)[0]["query"] and a.arguments.endswith("."),
    "a10-escaped": lambda a: not parses(a.arguments) and parses(a.arguments.replace("\\", "")),
    "a10-newline": lambda a: not parses(a.arguments) and parses(a.arguments.replace("\\n", "")),
    "a10-quote": lambda a: not values(a.arguments) and a.arguments.count('"') == 6,
    "a10-garbage": lambda a: not values(a.arguments) and "{" not in a.arguments,
    "a11-two": lambda a: not a.calls and a.text.count("<tool_call>") == 2,
    "a11-unclosed": lambda a: not a.calls and "<｜DSML｜invoke" in a.text and "</｜DSML｜invoke>" not in a.text,
    "a11-duplicate": lambda a: "<tool_call>" in a.text and is_search(a),
    "a11-fence": lambda a: re.search(r"```xml\n<tool_call>.*</｜DSML｜tool_calls>\n```", a.text, re.DOTALL),
    "a11-fence-split": lambda a: re.search(r"```xml\n<tool_call>.*</｜DSML｜tool_calls>\n```", a.text, re.DOTALL),
    "a11-unknown": lambda a: not a.calls and 'invoke name="lookup_everything"' in a.text,
    "a11-unknown-always": lambda a: not a.calls and 'invoke name="lookup_everything"' in a.text,
    "a11-reasoning": lambda a: "<tool_call>" in a.reasoning and not a.text and not a.calls,
    "a12": lambda a: is_search(a) and set(a.finishes) <= {None, "stop"} and "stop" in a.finishes,
    "a12-null": lambda a: is_search(a) and set(a.finishes) == {None},
    "a13": lambda a: not a.calls and "default_api." in a.text and a.natives == {"MALFORMED_FUNCTION_CALL"},
    "a13-empty": lambda a: not a.calls and not a.text and "error" in a.finishes and "FUNCTION" in str(a.natives),
    "a13-call": lambda a: is_search(a) and "stop" in a.finishes and a.natives == {"MALFORMED_FUNCTION_CALL"},
    "a13-unexpected": lambda a: not a.calls and not a.text and a.natives == {"UNEXPECTED_TOOL_CALL"},
    "a13-error": lambda a: '"error":{"code":502' in a.body.decode() and a.natives == {"MALFORMED_FUNCTION_CALL"},
    "a20-refusal": lambda a: is_search(a) and "tool_calls" in a.finishes and a.natives == {"refusal"},
    "a20-pause": lambda a: is_search(a) and "tool_calls" in a.finishes and a.natives == {"pause_turn"},
    "a20-unknown": lambda a: is_search(a) and "tool_calls" in a.finishes and a.natives == {"brand_new_reason"},
    "a20-word": lambda a: is_search(a) and "brand_new_reason" in a.finishes and a.natives <= {""},
    "a20-text-refusal": lambda a: a.text and not a.calls and a.natives == {"refusal"},
    "a20-text-pause": lambda a: a.text and not a.calls and a.natives == {"pause_turn"},
    "a20-text-unknown": lambda a: a.text and not a.calls and a.natives == {"brand_new_reason"},
    "a14-parallel": lambda a: a.names == ["multi_tool_use.parallel"] and len(json.loads(a.arguments)["tool_uses"]) == 2,
    "a14-namespace": lambda a: a.names == ["default_api.search_web"] and is_search(a),
    "a14-functions": lambda a: a.names == ["functions.search_web"] and is_search(a),
    "a14-invented": lambda a: a.names == ["google_search"] and is_search(a),
    "a14-endless": lambda a: a.names == ["lookup_a"],
    "a15": lambda a: a.ids == ["call_0"],
    "a15-step": lambda a: a.ids == ["call_0", "call_0"],
    "a16-long": lambda a: [len(i) for i in a.ids] == [60, 60] and len(set(a.ids)) == 2,
    "a16-dots": lambda a: all("." in i and ":" in i and "/" in i for i in a.ids) and len(set(a.ids)) == 2,
}


def drawn(answer: Answer) -> str:
    """Give the address of the first image."""
    return next(delta["images"][0]["image_url"]["url"] for delta in answer.deltas if "images" in delta)


# What the second half of the table says in a first step, as a stream; what is None is tested by itself below.
STREAMED: dict[str, Seen] = {
    "e14": lambda a: len(next(d["annotations"] for d in a.deltas if "annotations" in d)) == 2 and a.text,
    "e14-image": lambda a: drawn(a).startswith("data:image/png;base64,iVBOR") and a.text,
    "e14-image-only": lambda a: drawn(a).startswith("data:image/png;base64,iVBOR") and not a.text,
    "e14-image-link": lambda a: drawn(a).startswith("https://"),
    "b01": is_search_of_one,
    "b02": is_search_of_one,
    "b02-gone": is_search_of_one,
    "b03": lambda a: (
        len(a.details) >= 3
        and all(d.get("text") and "signature" not in d for d in a.details[:-1])
        and a.details[-1]["signature"]
        and "text" not in a.details[-1]
    ),
    "b04": is_search_of_one,
    "b08": spent,
    "b08-always": spent,
    "b10": lambda a: any(d.get("reasoning") == d["reasoning_details"][0].get("text") for d in thinking(a)),
    "b10-three": lambda a: (
        {d["reasoning"] == d["reasoning_content"] for d in thinking(a) if d.get("reasoning")} == {True}
    ),
    "b10-content": lambda a: (
        not a.reasoning and not a.details and len("".join(d.get("reasoning_content") or "" for d in a.deltas)) > 20
    ),
    "b11": lambda a: re.match(r"<think>\n[^<]+\n</think>\n\n$", a.text) and not a.reasoning and is_search(a),
    "b11-open": lambda a: a.text.startswith("<think>\n") and "</think>" not in a.text and is_search(a),
    "b11-close": lambda a: "<think>" not in a.text and "\n</think>\n" in a.text and is_search(a),
    "b11-split": lambda a: "</think>" in a.text and max(len(d.get("content") or "") for d in a.deltas) == 1,
    "b11-stray": lambda a: not a.text and is_search(a),
    "b11-literal": lambda a: a.text.startswith("<think>\n") and a.text.count("</think>") == 2,
    "b11-quoted": lambda a: not a.text.startswith("<") and "`<think>` and `</think>`" in a.text,
    "b12": lambda a: not a.reasoning and {d["type"] for d in a.details} == {"reasoning.encrypted"} and is_search(a),
    "b14": is_search_of_one,
    **dict.fromkeys(
        ("d02", "d02-once", "d02-blank", "d02-early", "d02-early-once", "d03-bare", "d04", "d05"), bare_search
    ),
    "d03": bare_search,
    "d06": lambda a: a.text == "First I look for it. " and is_search(a),
    **dict.fromkeys(("d07", "d07-always"), bare_search),
    "e01": lambda a: a.error["code"] == 502 and a.chunks[-1]["choices"] == [] and a.text.startswith(PARAGRAPH),
    "e01-finish": lambda a: a.finishes[-1] == "error" and not a.error and a.text.startswith(PARAGRAPH) and a.done,
    "e01-body": lambda a: json.loads(a.body)["error"]["code"] == 429,
    "e01-first": lambda a: a.error["code"] == 502 and not a.text and len(a.chunks) == 1,
    "e01-once": lambda a: a.error["code"] == 502 and not a.text,
    "e01-429": lambda a: is_soon(a.error["metadata"]) and not a.text,
    "e01-429-once": lambda a: is_soon(a.error["metadata"]) and not a.text,
    "e01-tool": lambda a: is_search(a) and a.error["code"] == 502 and not any(a.finishes),
    "e02": lambda a: a.text.startswith(PARAGRAPH) and not any(a.finishes) and not a.done,
    "e02-tool": lambda a: is_search(a) and not any(a.finishes) and not a.done,
    "e02-no-done": lambda a: is_search(a) and a.finishes[-1] == "tool_calls" and not a.done,
    "e02-done-only": lambda a: a.body == b"data: [DONE]\n\n",
    "e04": lambda a: is_search(a) and a.lines.count(": OPENROUTER PROCESSING") > len(a.chunks),
    "e04-data": lambda a: is_search(a) and a.lines.count("data: : keepalive") >= len(a.chunks),
    "e04-empty": lambda a: is_search(a) and a.lines.count("data:") >= len(a.chunks) <= a.lines.count("data: "),
    "e04-id": lambda a: is_search(a) and b"\nid: 3\ndata: {" in a.body and b"}\n\n: ping\n\n" in a.body,
    "e04-crlf": lambda a: is_search(a) and a.body.count(b"\n") == a.body.count(b"\r\n") > 10,
    "e05": lambda a: is_search(a) and b"\xe2\x80\xa8" in a.body and b"\xc2\x85" in a.body,
    "e06": is_search_of_one,
    "e09": lambda a: a.chunks[0]["choices"] == [] and any("delta" not in c for c in a.choices) and is_search(a),
    "e09-choices": lambda a: "choices" not in a.chunks[0] and a.chunks[1]["choices"] is None and is_search(a),
    "e09-delta": lambda a: a.choices[0]["delta"] is None and is_search(a),
    "e09-usage": lambda a: a.chunks[-1]["choices"] == [] and a.usage and "usage" not in a.chunks[-2] and is_search(a),
    "e10": lambda a: len(glued(a)) == 1,
    "e10-many": lambda a: len(glued(a)) > 10,
    "f02": lambda a: a.error["code"] == 502 and a.text.startswith(PARAGRAPH),
    "f02-tool": lambda a: is_search(a) and a.error["code"] == 502 and not any(a.finishes),
}
REFUSED = ("f01", "f01-always", "f01-day", "f01-header")
CUT = ("f02-cut",)


def first_with_calls(answer: Answer) -> list[dict[str, Any]]:
    """Give the calls of the first delta that has any."""
    return next(delta["tool_calls"] for delta in answer.deltas if delta.get("tool_calls"))


def split(answer: Answer, mark: str) -> bool:
    """Tell whether no piece of the text holds more than a letter of it; a whole body has no pieces."""
    return answer.whole or not any(len(delta.get("content") or "") > 1 for delta in answer.deltas)


def test_table_names_every_quirk() -> None:
    """The table in the docstring and the code know the same quirks, and the catalogue lists them."""
    rows = [line.split("|")[1].strip() for line in (quirks.__doc__ or "").splitlines() if re.match(r"\| [a-f]\d", line)]
    documented = {name.replace("-D", f"-{dialect}") for name in rows for dialect in DIALECTS}
    assert documented == set(quirks.QUIRKS)
    assert {f"sim-quirk-{name}" for name in quirks.QUIRKS} <= set(example_ids())
    assert all(fault_of(f"qwen/sim-quirk-{name}:free") for name in quirks.QUIRKS)
    assert fault_of("openai/sim-quirk-a99") is None


@pytest.mark.parametrize("family", ["openai", "anthropic", "google", "mistralai", "qwen"])
@pytest.mark.parametrize("quirk", CALLS)
def test_wire_shapes_of_calls(client: httpx.Client, quirk: str, family: str) -> None:
    """The deltas of a stream have the shape, in every family's stream."""
    answer = post(client, quirk, family=family)
    assert CALLS[quirk][0](answer), answer.body.decode()
    assert answer.body.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("quirk", [name for name, (_, whole) in CALLS.items() if whole])
def test_wire_shapes_of_whole_calls(client: httpx.Client, quirk: str) -> None:
    """The message of a whole body has the shape where it can have it."""
    answer = post(client, quirk, stream=False)
    assert CALLS[quirk][1](answer), answer.body.decode()  # type: ignore[misc]


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("quirk", SAID)
def test_what_quirks_say(client: httpx.Client, quirk: str, streamed: bool) -> None:
    """What is said shows the quirk, streamed and whole."""
    family = "google" if quirk.startswith("a13") else "deepseek"
    answer = post(client, quirk, family=family, stream=streamed, max_tokens=800, mark=str(streamed))
    assert SAID[quirk](answer), answer.body.decode()


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_leaks_in_every_dialect(client: httpx.Client, dialect: str, streamed: bool) -> None:
    """A leaked call is text in its dialect's markup, and no call (A11)."""
    answer = post(client, f"a11-{dialect}", stream=streamed)
    assert DIALECTS[dialect] in answer.text
    assert "tool loop" in answer.text
    assert not answer.calls


@pytest.mark.parametrize("dialect", DIALECTS)
def test_leaks_letter_by_letter(client: httpx.Client, dialect: str) -> None:
    """No piece of the text holds two letters of an opener (A11)."""
    answer = post(client, f"a11-{dialect}-split")
    assert DIALECTS[dialect] in answer.text
    assert max(len(delta.get("content") or "") for delta in answer.deltas) == 1


def follow(client: httpx.Client, quirk: str, family: str, steps: int = 4, **fields: Any) -> list[Answer]:
    """Run the tool loop as a faithful client would: sound calls are answered with results, until there are none."""
    messages: list[Any] = [f"Search for the tool loop {family}"]
    answers: list[Answer] = []
    while len(answers) < steps:
        answer = post(client, quirk, *messages, family=family, stream=False, **fields)
        answers.append(answer)
        if not answer.calls:
            break
        message = {key: value for key, value in answer.deltas[0].items() if value is not None}
        calls = [dict(call) for call in answer.calls]
        for at, call in enumerate(calls):
            call["id"] = f"c{len(messages):04}{at:04}" if quirk.startswith(("a04", "a15", "a16")) else call["id"]
        messages += [{**message, "content": message.get("content") or None, "tool_calls": calls}]
        messages += [result(call["id"], run_tool(call["function"]["name"], sound(call))) for call in calls]
    return answers


def sound(call: dict[str, Any]) -> dict[str, Any]:
    """Read arguments, or give some where they are broken, so that the loop goes on."""
    text = call["function"]["arguments"]
    call["function"]["arguments"] = text if parses(text) and isinstance(json.loads(text), dict) else "{}"
    return {"expression": "1", **json.loads(call["function"]["arguments"])}


STEPS = {"a15": 2, "a14-invented": 2}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "quirk", [name for name in quirks.QUIRKS if name in ("a01", "a04-none", "a15", "a14-invented")]
)
def test_the_answer_comes_after_the_results(client: httpx.Client, quirk: str, family: str) -> None:
    """With the results sent back, seals and all, every family's host answers in words."""
    answers = follow(client, quirk, family)
    assert len(answers) == STEPS.get(quirk, 1) + 1
    assert "The loop" in answers[-1].text


@pytest.mark.parametrize("quirk", ["a13", "a13-empty", "a13-call", "a13-unexpected", "a13-error", "a11-unknown"])
def test_second_attempts(client: httpx.Client, quirk: str) -> None:
    """What passes is over when the same is asked again, also with a correction behind it; `-always` never is."""
    asked = f"Search for second attempts at {quirk}"
    note = {"role": "user", "content": "Your last call could not be read. Try again."}
    assert not post(client, quirk, asked).body.count(b'"arguments":"{') or quirk == "a13-call"
    again = post(client, quirk, asked, note)
    assert is_search(again)
    assert again.finishes[-1] == "tool_calls"
    if f"{quirk}-always" in quirks.QUIRKS:
        last = [post(client, f"{quirk}-always", asked) for _ in range(3)][-1]
        assert last.finishes[-1] != "tool_calls"


@pytest.mark.parametrize("quirk", ["a11-finalize", "a11-finalize-bare", "a14-endless"])
def test_calls_until_they_are_forbidden(client: httpx.Client, quirk: str) -> None:
    """While it may, the model calls, each time with other arguments; in finalize it leaks or answers."""
    answers = follow(client, quirk, "qwen", steps=4)
    assert len({answer.arguments for answer in answers}) == 4
    last = post(client, quirk, stream=True, tool_choice="none")
    assert not last.calls
    assert ("<｜DSML｜" in last.text) is quirk.startswith("a11")
    assert last.text.startswith("Here is") is (quirk == "a11-finalize")


def test_no_quirk_is_without_a_test() -> None:
    """Every id is looked at by one of the tables or tests here."""
    tables = {*CALLS, *SAID, *STREAMED, *REFUSED, *CUT, "a11-finalize", "a11-finalize-bare"}
    dialects = {f"a11-{name}{end}" for name in DIALECTS for end in ("", "-split")}
    always = {name for name in quirks.QUIRKS if name.startswith("a13") and name.endswith("-always")}
    assert tables | dialects | always == set(quirks.QUIRKS)


@pytest.mark.parametrize("quirk", STREAMED)
def test_streams_of_the_other_sections(client: httpx.Client, quirk: str) -> None:
    """The first answer of a stream shows the quirk."""
    family = "anthropic" if quirk == "b03" else "deepseek"
    answer = post(client, quirk, f"Search for streams of {quirk}", family=family, max_tokens=800)
    assert STREAMED[quirk](answer), answer.body.decode()


WHOLE: dict[str, Seen] = {
    "b10-three": lambda a: a.deltas[0]["reasoning_content"] == a.deltas[0]["reasoning"] != "",
    "b10-content": lambda a: a.deltas[0]["reasoning_content"] and "reasoning_details" not in a.deltas[0],
    "b11": STREAMED["b11"],
    "b11-close": STREAMED["b11-close"],
    "b12": STREAMED["b12"],
    "e01": lambda a: a.error["code"] == 502 and "choices" not in a.chunks[0],
    "e01-429": lambda a: is_soon(a.error["metadata"]),
    "e01-finish": lambda a: a.finishes == ["error"] and a.text.startswith(PARAGRAPH),
    "e05": lambda a: is_search(a) and b"\xe2\x80\xa8" in a.body,
}


@pytest.mark.parametrize("quirk", WHOLE)
def test_whole_bodies_of_the_other_sections(client: httpx.Client, quirk: str) -> None:
    """The whole body shows the quirk where it can."""
    answer = post(client, quirk, f"Search for bodies of {quirk}", stream=False)
    assert WHOLE[quirk](answer), answer.body.decode()


ENDS: dict[str, tuple[int, Seen]] = {
    "b01": (3, lambda a: "The loop" in a.text),
    "b03": (3, lambda a: "The loop" in a.text),
    "b10-content": (2, lambda a: "The loop" in a.text),
    "b11": (2, lambda a: a.text.startswith("<think>") and "The loop" in a.text.partition("</think>")[2]),
    "b11-stray": (2, lambda a: a.text.endswith("</think>")),
    "b12": (2, lambda a: "The loop" in a.text),
    "b14": (2, lambda a: not a.text and a.reasoning and a.finishes == ["stop"]),
    "d02-early": (2, lambda a: not a.text and not a.reasoning),
    "d06": (3, lambda a: "The loop" in a.text),
    "d07-always": (2, lambda a: "cannot browse" in a.text),
    "e05": (2, lambda a: all(mark in a.text for mark in "\u2028\u2029\x85")),
}


@pytest.mark.parametrize("family", ["openai", "anthropic", "google", "deepseek", "mistralai"])
@pytest.mark.parametrize("quirk", ENDS)
def test_ends_of_runs(client: httpx.Client, quirk: str, family: str) -> None:
    """A faithful client comes to the end that the table tells, in every family that checks what comes back."""
    answers = follow(client, quirk, family)
    assert len(answers) == ENDS[quirk][0]
    assert ENDS[quirk][1](answers[-1]), answers[-1].body.decode()


FORBIDDEN: dict[str, Seen] = {
    "d02": lambda a: not a.text and not a.calls,
    "d02-blank": lambda a: a.text and not a.text.strip() and not a.calls,
    "d03": lambda a: a.text.startswith("This is what") and is_search(a),
    "d03-bare": lambda a: not a.text and is_search(a),
    "d05": lambda a: a.text and not a.calls,
}


@pytest.mark.parametrize("quirk", FORBIDDEN)
def test_when_calls_are_forbidden(client: httpx.Client, quirk: str) -> None:
    """In finalize the model is silent, blank, or calls anyway."""
    assert FORBIDDEN[quirk](post(client, quirk, tool_choice="none"))


@pytest.mark.parametrize("quirk", ["d02-once", "d02-early-once", "d07", "e01-once", "e01-429-once", "f02", "f02-tool"])
def test_second_attempts_of_the_other_sections(client: httpx.Client, quirk: str) -> None:
    """What passes is over at the second attempt, and there again at the third."""
    fields = {"tool_choice": "none"} if quirk.startswith("d0") else {}
    tries = [post(client, quirk, f"Search for tries of {quirk}", **fields) for _ in range(3)]
    sound = [not a.error and bool(a.text or a.calls) and "cannot browse" not in a.text for a in tries]
    assert sound == [False, True, False]


def test_the_same_search_in_other_words(client: httpx.Client) -> None:
    """Six searches have the same words, and none the same text (D4)."""
    asked = [json.loads(answer.arguments)["query"] for answer in follow(client, "d04", "qwen", steps=6)]
    assert len(set(asked)) == 6
    assert len({tuple(sorted(re.findall(r"\w+", query.lower()))) for query in asked}) == 1


def test_hosts_flip_and_seals_break(client: httpx.Client) -> None:
    """Without a pin the second step's host refuses the first one's seal; pinned it is taken (B2)."""
    first = post(client, "b02", "Search for flips", family="google", stream=False)
    message = {**first.deltas[0], "content": None}
    messages = [
        {"role": "user", "content": "Search for flips"},
        message,
        result(first.ids[0], run_tool("search_web", {})),
    ]
    body = ask("google/sim-quirk-b02", *messages)
    refused = client.post("/chat/completions", json=body)
    assert (refused.status_code, "thought signature" in refused.text) == (400, True)
    pin = {"order": [first.chunks[0]["provider"]], "allow_fallbacks": False}
    assert client.post("/chat/completions", json={**body, "provider": pin}).status_code == 200
    gone = {**body, "model": "google/sim-quirk-b02-gone", "provider": pin}
    assert client.post("/chat/completions", json=gone).status_code == 503


@pytest.mark.parametrize("family", ["openai", "anthropic", "google", "x-ai"])
def test_right_details_are_refused(client: httpx.Client, family: str) -> None:
    """Details that come back are called invalid although they are right; stripped or told in words it goes on (B4)."""
    question = {"role": "user", "content": f"Search for details in {family}"}
    reasoning = {"reasoning": {"effort": "low"}}
    first = post(client, "b04", question, family=family, stream=False, **reasoning)
    message = {**first.deltas[0], "content": None}
    results = [result(first.ids[0], run_tool("search_web", {}))]
    refused = client.post(
        "/chat/completions", json=ask(f"{family}/sim-quirk-b04", question, message, *results, **reasoning)
    )
    assert refused.status_code == 400
    assert re.search("signature|encrypted", refused.json()["error"]["metadata"]["raw"])
    bare = {key: value for key, value in message.items() if not key.startswith("reasoning")}
    assert post(client, "b04", question, bare, *results, family=family, **reasoning).text
    words = {"role": "user", "content": f"{question['content']}\n\nTools returned: one page."}
    assert not post(client, "b04", words, family=family, **reasoning).calls


def test_room_ends_the_silence(client: httpx.Client) -> None:
    """More tokens or less effort bring an answer, the same request does not, and `-always` never does (B8)."""

    def said(quirk: str, **fields: Any) -> bool:
        return "length" not in post(client, quirk, f"Search for room {quirk}", **fields).finishes

    assert [said("b08", max_tokens=size) for size in (500, 500, 1500)] == [False, False, True]
    assert not said("b08", max_tokens=1500, reasoning={"effort": "high"})
    assert said("b08", max_tokens=1500, reasoning={"effort": "low"})
    assert not any(said("b08-always", max_tokens=size) for size in (500, 5000))


@pytest.mark.parametrize("quirk", REFUSED)
def test_limits(client: httpx.Client, quirk: str) -> None:
    """A 429 tells its end in the body in milliseconds, or in a header; some pass at the second attempt (F1)."""
    body = ask(f"openai/sim-quirk-{quirk}", f"Search for limits {quirk}")
    first, second = (client.post("/chat/completions", json=body) for _ in range(2))
    assert first.status_code == 429
    assert second.status_code == (200 if quirk in ("f01", "f01-header") else 429)
    metadata = first.json()["error"]["metadata"]
    if quirk == "f01-header":
        assert first.headers["retry-after"] == "1"
    elif quirk == "f01-day":
        assert float(metadata["headers"]["X-RateLimit-Reset"]) / 1000 - time.time() > 4 * 3600
        assert "per-day" in first.json()["error"]["message"]
    else:
        assert is_soon(metadata)
        assert "retry-after" not in first.headers


def test_a_limit_lets_the_next_model_answer(client: httpx.Client) -> None:
    """With fallbacks in the request a limited model is passed over (F6)."""
    body = ask("openai/sim-quirk-f01-day", "Hello!", models=["openai/sim-quirk-f01-day", "qwen/sim"])
    assert Answer(client.post("/chat/completions", json=body).content, whole=False).chunks[0]["model"] == "qwen/sim"


def test_a_cut_that_passes(client: httpx.Client) -> None:
    """The socket is closed in the middle of the text at the first attempt, and the second is answered (F2)."""
    read = bytearray()
    body = ask("qwen/sim-quirk-f02-cut", "Search for cuts")
    with client.stream("POST", "/chat/completions", json=body) as response, pytest.raises(httpx.RemoteProtocolError):
        collect(response, read)
    assert Answer(bytes(read), whole=False).text.startswith(PARAGRAPH)
    assert is_search(post(client, "f02-cut", "Search for cuts", family="qwen"))
