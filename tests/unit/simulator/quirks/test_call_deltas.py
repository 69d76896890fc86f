"""Quirks in the deltas of calls: index, id, name and pieces (A1-A5, A12, A17-A19)."""

import json
from typing import Any

import httpx
import pytest

from tests.unit.simulator.quirks.answers import Answer, Check, is_search, parses, post


def named_deltas(answer: Answer) -> list[dict[str, Any]]:
    """Return the call deltas that have a name."""
    return [call for call in answer.calls if call["function"].get("name")]


def all_at_index_zero(answer: Answer) -> bool:
    """Return whether two calls share index 0."""
    return {call["index"] for call in answer.calls} == {0} and len(named_deltas(answer)) == 2


def first_with_calls(answer: Answer) -> list[dict[str, Any]]:
    """Return the calls of the first delta that has any."""
    return next(delta["tool_calls"] for delta in answer.deltas if delta.get("tool_calls"))


# For each quirk, the check of a stream, and that of an answer that is not streamed if the quirk affects it.
CALLS: dict[str, tuple[Check, Check | None]] = {
    "a01": (lambda a: all_at_index_zero(a) and len(set(a.ids)) == 2 and all(map(parses, a.pieces)), all_at_index_zero),
    "a01-fragmented": (
        lambda a: all_at_index_zero(a) and len(a.ids) == 2 and a.ids[0] != a.ids[1] and len(a.calls) == 8,
        all_at_index_zero,
    ),
    "a01-by-turns": (
        lambda a: all_at_index_zero(a) and a.ids == a.ids[:2] * 4 and a.ids[0] != a.ids[1],
        all_at_index_zero,
    ),
    "a01-same-name": (
        lambda a: all_at_index_zero(a) and a.names == ["search_web"] * 2 and len(a.calls) == 8,
        all_at_index_zero,
    ),
    "a01-no-id": (
        lambda a: all_at_index_zero(a) and not a.ids and all(map(parses, a.pieces)),
        lambda a: all_at_index_zero(a) and not a.ids,
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
            all("index" not in call for call in named_deltas(a))
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


@pytest.mark.parametrize("family", ["openai", "anthropic", "google", "mistralai", "qwen"])
@pytest.mark.parametrize("quirk", CALLS)
def test_streamed_calls(client: httpx.Client, quirk: str, family: str) -> None:
    """The call deltas of a stream show the quirk, in every family's format."""
    answer = post(client, quirk, family=family)
    assert CALLS[quirk][0](answer), answer.body.decode()
    assert answer.body.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("quirk", [name for name, (_, whole) in CALLS.items() if whole])
def test_calls_that_are_not_streamed(client: httpx.Client, quirk: str) -> None:
    """The message of an answer that is not streamed shows the quirk."""
    answer = post(client, quirk, stream=False)
    assert CALLS[quirk][1](answer), answer.body.decode()  # type: ignore[misc]
