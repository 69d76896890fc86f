"""Quirks in arguments, tool names, ids and finish reasons, the same streamed or not (A6-A16, A20)."""

import json
import re
from typing import Any

import httpx
import pytest
from signalbox.simulator.quirks import QUIRKS

from tests.unit.simulator.quirks.answers import Check, follow, is_search, parses, post
from tests.unit.simulator.requests import FAMILIES


def leading_values(text: str) -> list[Any]:
    """Return the JSON values at the beginning of a text."""
    found, at = [], 0
    while at < len(text):
        try:
            value, at = json.JSONDecoder().raw_decode(text, at)
        except json.JSONDecodeError:
            break
        found.append(value)
    return found


def open_braces(text: str) -> int:
    """Return how many braces are not closed, if braces in strings count."""
    return text.count("{") - text.count("}")


CONTENTS: dict[str, Check] = {
    "a06-twice": lambda a: leading_values(a.arguments)[0] == leading_values(a.arguments)[1],
    "a06-split": lambda a: (
        len(leading_values(a.arguments)) == 2 and leading_values(a.arguments)[0] != leading_values(a.arguments)[1]
    ),
    "a06-tail": lambda a: len(leading_values(a.arguments)) == 1 and a.arguments.count("{") == 2,
    "a06-leading": lambda a: leading_values(a.arguments)[0] == {} and leading_values(a.arguments)[1]["query"],
    "a07": lambda a: not parses(a.arguments) and open_braces(a.arguments) == 1 and "tool_calls" in a.finishes,
    "a07-length": lambda a: not parses(a.arguments) and "length" in a.finishes and "tool_calls" not in a.finishes,
    "a07-tokens": lambda a: (
        not parses(a.arguments)
        and open_braces(a.arguments) == 0
        and a.usage["completion_tokens"] == 800
        and "tool_calls" in a.finishes
    ),
    "a07-parses": lambda a: a.arguments == "{}" and a.names == ["search_web"] and "length" in a.finishes,
    "a08": lambda a: not leading_values(a.arguments) and open_braces(a.arguments) == 0,
    "a09": lambda a: a.arguments == "" and a.names == ["get_current_time"],
    "a09-required": lambda a: a.arguments == "" and a.names == ["search_web"],
    "a10-double": lambda a: json.loads(json.loads(a.arguments))["query"],
    "a10-brace": lambda a: not parses(a.arguments) and parses(a.arguments[:-1]),
    "a10-prose": lambda a: (
        not parses(a.arguments) and leading_values(a.arguments)[0]["query"] and a.arguments.endswith(".")
    ),
    "a10-escaped": lambda a: not parses(a.arguments) and parses(a.arguments.replace("\\", "")),
    "a10-newline": lambda a: not parses(a.arguments) and parses(a.arguments.replace("\\n", "")),
    "a10-quote": lambda a: not leading_values(a.arguments) and a.arguments.count('"') == 6,
    "a10-garbage": lambda a: not leading_values(a.arguments) and "{" not in a.arguments,
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


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("quirk", CONTENTS)
def test_contents(client: httpx.Client, quirk: str, streamed: bool) -> None:
    """The answer shows the quirk, streamed or not."""
    family = "google" if quirk.startswith("a13") else "deepseek"
    answer = post(client, quirk, family=family, stream=streamed, max_tokens=800, mark=str(streamed))
    assert CONTENTS[quirk](answer), answer.body.decode()


STEPS = {"a15": 2, "a14-invented": 2}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("quirk", [name for name in QUIRKS if name in ("a01", "a04-none", "a15", "a14-invented")])
def test_answers_after_results(client: httpx.Client, quirk: str, family: str) -> None:
    """If a client sends results and reasoning back, every family answers from the results."""
    answers = follow(client, quirk, family)
    assert len(answers) == STEPS.get(quirk, 1) + 1
    assert "The loop" in answers[-1].text


@pytest.mark.parametrize("quirk", ["a11-finalize", "a11-finalize-bare", "a14-endless"])
def test_calls_until_tool_choice_none(client: httpx.Client, quirk: str) -> None:
    """The model calls a tool with other arguments in every step; with tool_choice none, it leaks a call or answers."""
    answers = follow(client, quirk, "qwen", steps=4)
    assert len({answer.arguments for answer in answers}) == 4
    last = post(client, quirk, stream=True, tool_choice="none")
    assert not last.calls
    assert ("<｜DSML｜" in last.text) is quirk.startswith("a11")
    assert last.text.startswith("Here is") is (quirk == "a11-finalize")
