"""Answers that are missing, blank or repeated, and calls where none are allowed (D)."""

import json
import re

import httpx
import pytest

from tests.unit.simulator.quirks.answers import Check, follow, is_search, is_silent_search, post

STREAMED: dict[str, Check] = {
    **dict.fromkeys(
        ("d02", "d02-once", "d02-blank", "d02-early", "d02-early-once", "d03-bare", "d04", "d05"), is_silent_search
    ),
    "d03": is_silent_search,
    "d06": lambda a: a.text == "First I look for it. " and is_search(a),
    **dict.fromkeys(("d07", "d07-always"), is_silent_search),
}


@pytest.mark.parametrize("quirk", STREAMED)
def test_streams(client: httpx.Client, quirk: str) -> None:
    """The first answer of a stream shows the quirk."""
    answer = post(client, quirk, f"Search for streams of {quirk}", max_tokens=800)
    assert STREAMED[quirk](answer), answer.body.decode()


ENDS: dict[str, tuple[int, Check]] = {
    "d02-early": (2, lambda a: not a.text and not a.reasoning),
    "d06": (3, lambda a: "The loop" in a.text),
    "d07-always": (2, lambda a: "cannot browse" in a.text),
}


@pytest.mark.parametrize("family", ["openai", "anthropic", "google", "deepseek", "mistralai"])
@pytest.mark.parametrize("quirk", ENDS)
def test_last_answers(client: httpx.Client, quirk: str, family: str) -> None:
    """A tool loop has the listed number of steps, and its last answer shows the quirk."""
    answers = follow(client, quirk, family)
    assert len(answers) == ENDS[quirk][0]
    assert ENDS[quirk][1](answers[-1]), answers[-1].body.decode()


FORBIDDEN: dict[str, Check] = {
    "d02": lambda a: not a.text and not a.calls,
    "d02-blank": lambda a: a.text and not a.text.strip() and not a.calls,
    "d03": lambda a: a.text.startswith("This is what") and is_search(a),
    "d03-bare": lambda a: not a.text and is_search(a),
    "d05": lambda a: a.text and not a.calls,
}


@pytest.mark.parametrize("quirk", FORBIDDEN)
def test_tool_choice_none(client: httpx.Client, quirk: str) -> None:
    """If calls are forbidden, the model is silent, sends white space, calls anyway or answers."""
    assert FORBIDDEN[quirk](post(client, quirk, tool_choice="none"))


def test_equal_searches_in_other_words(client: httpx.Client) -> None:
    """Six searches have the same words, but six different texts (D4)."""
    asked = [json.loads(answer.arguments)["query"] for answer in follow(client, "d04", "qwen", steps=6)]
    assert len(set(asked)) == 6
    assert len({tuple(sorted(re.findall(r"\w+", query.lower()))) for query in asked}) == 1
