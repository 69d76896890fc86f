"""Answers of the quirk models, parsed without code of the simulator or of Signalbox."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from tests.unit.simulator.requests import ask, result, run_tool

PARAGRAPH = "This is the beginning of an answer"


@dataclass
class Answer:
    """A response body and its deltas, which are not merged; `sent_at` and `received_at` are seconds since the epoch."""

    body: bytes
    whole: bool
    sent_at: float = 0.0
    received_at: float = 0.0

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
    """Send a request to a quirk model and return its answer."""
    asked = messages or (f"Search for the tool loop {fields.pop('mark', '')}",)
    body = ask(f"{family}/sim-quirk-{quirk}", *asked, **fields)
    sent_at = time.time()
    response = client.post("/chat/completions", json=body)
    assert response.status_code == 200, response.text
    return Answer(response.content, body["stream"] is False, sent_at, time.time())


def follow(client: httpx.Client, quirk: str, family: str, steps: int = 4, **fields: Any) -> list[Answer]:
    """Run a tool loop: send results for the calls of each answer, until an answer has none."""
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
        messages += [result(call["id"], run_tool(call["function"]["name"], _repaired(call))) for call in calls]
    return answers


def _repaired(call: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call, and replace invalid ones in the call, so that the loop continues."""
    text = call["function"]["arguments"]
    call["function"]["arguments"] = text if parses(text) and isinstance(json.loads(text), dict) else "{}"
    return {"expression": "1", **json.loads(call["function"]["arguments"])}


def parses(text: str) -> bool:
    """Return whether a text is JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError:
        return False
    return True


def is_search(answer: Answer) -> bool:
    """Return whether the arguments are those of a valid search."""
    return isinstance(json.loads(answer.arguments)["query"], str)


def is_only_search(answer: Answer) -> bool:
    """Return whether the answer calls exactly one valid search."""
    return answer.names == ["search_web"] and is_search(answer)


def is_silent_search(answer: Answer) -> bool:
    """Return whether the answer is a valid search without text."""
    return is_search(answer) and not answer.text


def resets_after(seconds: float, metadata: dict[str, Any], answer: Answer) -> bool:
    """Return whether a rate limit ends this long after the response was made, given in epoch milliseconds."""
    reset = float(metadata["headers"]["X-RateLimit-Reset"]) / 1000
    return answer.sent_at + seconds - 0.001 <= reset <= answer.received_at + seconds


Check = Callable[[Answer], Any]
