"""Quirks of streams: errors inside a 200, missing ends, keep-alives, odd frames and attachments (E)."""

import json

import httpx
import pytest

from tests.unit.simulator.quirks.answers import (
    PARAGRAPH,
    Answer,
    Check,
    follow,
    is_only_search,
    is_search,
    parses,
    post,
    resets_after,
)


def merged_lines(answer: Answer) -> list[str]:
    """Return the lines that hold the beginning of a frame and the whole frame."""
    lines = [line for line in answer.lines if line.count("data: {") == 2]
    return [line for line in lines if parses(line.rpartition("data: ")[2]) and not parses(line[6:])]


def first_image(answer: Answer) -> str:
    """Return the URL of the first image."""
    return next(delta["images"][0]["image_url"]["url"] for delta in answer.deltas if "images" in delta)


STREAMED: dict[str, Check] = {
    "e14": lambda a: len(next(d["annotations"] for d in a.deltas if "annotations" in d)) == 2 and a.text,
    "e14-image": lambda a: first_image(a).startswith("data:image/png;base64,iVBOR") and a.text,
    "e14-image-only": lambda a: first_image(a).startswith("data:image/png;base64,iVBOR") and not a.text,
    "e14-image-link": lambda a: first_image(a).startswith("https://"),
    "e01": lambda a: a.error["code"] == 502 and a.chunks[-1]["choices"] == [] and a.text.startswith(PARAGRAPH),
    "e01-finish": lambda a: a.finishes[-1] == "error" and not a.error and a.text.startswith(PARAGRAPH) and a.done,
    "e01-body": lambda a: json.loads(a.body)["error"]["code"] == 429,
    "e01-first": lambda a: a.error["code"] == 502 and not a.text and len(a.chunks) == 1,
    "e01-once": lambda a: a.error["code"] == 502 and not a.text,
    "e01-429": lambda a: resets_after(0.3, a.error["metadata"], a) and not a.text,
    "e01-429-once": lambda a: resets_after(0.3, a.error["metadata"], a) and not a.text,
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
    "e06": is_only_search,
    "e09": lambda a: a.chunks[0]["choices"] == [] and any("delta" not in c for c in a.choices) and is_search(a),
    "e09-choices": lambda a: "choices" not in a.chunks[0] and a.chunks[1]["choices"] is None and is_search(a),
    "e09-delta": lambda a: a.choices[0]["delta"] is None and is_search(a),
    "e09-usage": lambda a: a.chunks[-1]["choices"] == [] and a.usage and "usage" not in a.chunks[-2] and is_search(a),
    "e10": lambda a: len(merged_lines(a)) == 1,
    "e10-many": lambda a: len(merged_lines(a)) > 10,
}


@pytest.mark.parametrize("quirk", STREAMED)
def test_streams(client: httpx.Client, quirk: str) -> None:
    """The first answer of a stream shows the quirk."""
    answer = post(client, quirk, f"Search for streams of {quirk}", max_tokens=800)
    assert STREAMED[quirk](answer), answer.body.decode()


WHOLE: dict[str, Check] = {
    "e01": lambda a: a.error["code"] == 502 and "choices" not in a.chunks[0],
    "e01-429": lambda a: resets_after(0.3, a.error["metadata"], a),
    "e01-finish": lambda a: a.finishes == ["error"] and a.text.startswith(PARAGRAPH),
    "e05": lambda a: is_search(a) and b"\xe2\x80\xa8" in a.body,
}


@pytest.mark.parametrize("quirk", WHOLE)
def test_answers_that_are_not_streamed(client: httpx.Client, quirk: str) -> None:
    """An answer that is not streamed shows the quirk."""
    answer = post(client, quirk, f"Search for bodies of {quirk}", stream=False)
    assert WHOLE[quirk](answer), answer.body.decode()


ENDS: dict[str, tuple[int, Check]] = {
    "e05": (2, lambda a: all(mark in a.text for mark in "\u2028\u2029\x85")),
}


@pytest.mark.parametrize("family", ["openai", "anthropic", "google", "deepseek", "mistralai"])
@pytest.mark.parametrize("quirk", ENDS)
def test_last_answers(client: httpx.Client, quirk: str, family: str) -> None:
    """A tool loop has the listed number of steps, and its last answer shows the quirk."""
    answers = follow(client, quirk, family)
    assert len(answers) == ENDS[quirk][0]
    assert ENDS[quirk][1](answers[-1]), answers[-1].body.decode()
