"""Quirks of reasoning: signatures, fields, tags, and tokens spent on it (B)."""

import re
from typing import Any

import httpx
import pytest

from tests.unit.simulator.quirks.answers import Answer, Check, follow, is_only_search, is_search, post
from tests.unit.simulator.requests import ask, result, run_tool


def reasoning_deltas(answer: Answer) -> list[dict[str, Any]]:
    """Return the deltas with reasoning details."""
    return [delta for delta in answer.deltas if delta.get("reasoning_details")]


def spends_all_tokens(answer: Answer) -> bool:
    """Return whether the answer is only reasoning, and all 800 tokens were spent on it."""
    spent = answer.usage["completion_tokens"] == 800 == answer.usage["completion_tokens_details"]["reasoning_tokens"]
    return spent and bool(answer.reasoning) and not answer.text and "length" in answer.finishes


STREAMED: dict[str, Check] = {
    "b01": is_only_search,
    "b02": is_only_search,
    "b02-gone": is_only_search,
    "b03": lambda a: (
        len(a.details) >= 3
        and all(d.get("text") and "signature" not in d for d in a.details[:-1])
        and a.details[-1]["signature"]
        and "text" not in a.details[-1]
    ),
    "b04": is_only_search,
    "b08": spends_all_tokens,
    "b08-always": spends_all_tokens,
    "b10": lambda a: any(d.get("reasoning") == d["reasoning_details"][0].get("text") for d in reasoning_deltas(a)),
    "b10-three": lambda a: (
        {d["reasoning"] == d["reasoning_content"] for d in reasoning_deltas(a) if d.get("reasoning")} == {True}
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
    "b14": is_only_search,
}


@pytest.mark.parametrize("quirk", STREAMED)
def test_streams(client: httpx.Client, quirk: str) -> None:
    """The first answer of a stream shows the quirk."""
    family = "anthropic" if quirk == "b03" else "deepseek"
    answer = post(client, quirk, f"Search for streams of {quirk}", family=family, max_tokens=800)
    assert STREAMED[quirk](answer), answer.body.decode()


WHOLE: dict[str, Check] = {
    "b10-three": lambda a: a.deltas[0]["reasoning_content"] == a.deltas[0]["reasoning"] != "",
    "b10-content": lambda a: a.deltas[0]["reasoning_content"] and "reasoning_details" not in a.deltas[0],
    "b11": STREAMED["b11"],
    "b11-close": STREAMED["b11-close"],
    "b12": STREAMED["b12"],
}


@pytest.mark.parametrize("quirk", WHOLE)
def test_answers_that_are_not_streamed(client: httpx.Client, quirk: str) -> None:
    """An answer that is not streamed shows the quirk."""
    answer = post(client, quirk, f"Search for bodies of {quirk}", stream=False)
    assert WHOLE[quirk](answer), answer.body.decode()


ENDS: dict[str, tuple[int, Check]] = {
    "b01": (3, lambda a: "The loop" in a.text),
    "b03": (3, lambda a: "The loop" in a.text),
    "b10-content": (2, lambda a: "The loop" in a.text),
    "b11": (2, lambda a: a.text.startswith("<think>") and "The loop" in a.text.partition("</think>")[2]),
    "b11-stray": (2, lambda a: a.text.endswith("</think>")),
    "b12": (2, lambda a: "The loop" in a.text),
    "b14": (2, lambda a: not a.text and a.reasoning and a.finishes == ["stop"]),
}


@pytest.mark.parametrize("family", ["openai", "anthropic", "google", "deepseek", "mistralai"])
@pytest.mark.parametrize("quirk", ENDS)
def test_last_answers(client: httpx.Client, quirk: str, family: str) -> None:
    """A tool loop has the listed number of steps, and its last answer shows the quirk."""
    answers = follow(client, quirk, family)
    assert len(answers) == ENDS[quirk][0]
    assert ENDS[quirk][1](answers[-1]), answers[-1].body.decode()


def test_signatures_of_another_provider(client: httpx.Client) -> None:
    """Another provider rejects a signature; the one that made it, selected by `order`, accepts it (B2)."""
    first = post(client, "b02", "Search for flips", family="google", stream=False)
    message = {**first.deltas[0], "content": None}
    messages = [
        {"role": "user", "content": "Search for flips"},
        message,
        result(first.ids[0], run_tool("search_web", {})),
    ]
    body = ask("google/sim-quirk-b02", *messages)
    rejected = client.post("/chat/completions", json=body)
    assert (rejected.status_code, "thought signature" in rejected.text) == (400, True)
    pin = {"order": [first.chunks[0]["provider"]], "allow_fallbacks": False}
    assert client.post("/chat/completions", json={**body, "provider": pin}).status_code == 200
    gone = {**body, "model": "google/sim-quirk-b02-gone", "provider": pin}
    assert client.post("/chat/completions", json=gone).status_code == 503


@pytest.mark.parametrize("family", ["openai", "anthropic", "google", "x-ai"])
def test_correct_details_are_rejected(client: httpx.Client, family: str) -> None:
    """Reasoning details are rejected although they are correct; requests without them are answered (B4)."""
    question = {"role": "user", "content": f"Search for details in {family}"}
    reasoning = {"reasoning": {"effort": "low"}}
    first = post(client, "b04", question, family=family, stream=False, **reasoning)
    message = {**first.deltas[0], "content": None}
    results = [result(first.ids[0], run_tool("search_web", {}))]
    rejected = client.post(
        "/chat/completions", json=ask(f"{family}/sim-quirk-b04", question, message, *results, **reasoning)
    )
    assert rejected.status_code == 400
    assert re.search("signature|encrypted", rejected.json()["error"]["metadata"]["raw"])
    bare = {key: value for key, value in message.items() if not key.startswith("reasoning")}
    assert post(client, "b04", question, bare, *results, family=family, **reasoning).text
    words = {"role": "user", "content": f"{question['content']}\n\nTools returned: one page."}
    assert not post(client, "b04", words, family=family, **reasoning).calls


def test_answers_after_all_tokens_went_into_reasoning(client: httpx.Client) -> None:
    """A larger limit or a lower effort gives an answer, a repeated request does not, and `-always` never does (B8)."""

    def answers(quirk: str, **fields: Any) -> bool:
        return "length" not in post(client, quirk, f"Search for room {quirk}", **fields).finishes

    assert [answers("b08", max_tokens=size) for size in (500, 500, 1500)] == [False, False, True]
    assert not answers("b08", max_tokens=1500, reasoning={"effort": "high"})
    assert answers("b08", max_tokens=1500, reasoning={"effort": "low"})
    assert not any(answers("b08-always", max_tokens=size) for size in (500, 5000))
