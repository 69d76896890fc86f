"""Answers that only the Responses API has, by model id: they change the items or the events of an ordinary answer.

| id | what the API does |
|---|---|
| sim-web-search | a search of the API itself, and a text with a citation |
| sim-commentary | a message with the phase `commentary` before the answer or the calls |
| sim-open-reasoning | reasoning as readable text without encryption, as DeepSeek and LM Studio send it |
| sim-two-summaries | a summary of the reasoning in two parts |
| sim-whole-arguments | calls without deltas and `done` events of their arguments (LM Studio) |
| sim-plain-frames | no `event:` lines, and `[DONE]` at the end (OpenRouter's Responses API) |
| sim-unknown | an item and an event of types that no client knows |
"""

from collections.abc import Callable
from typing import Any

from .ids import Origin
from .stream import Event

PREFIX = "sim-"
Item = dict[str, Any]
_QUOTED = "A step is one model call."
_CITED = {
    "type": "url_citation",
    "end_index": 25,
    "start_index": 0,
    "title": "The loop",
    "url": "https://example.org/7",
}


def _web_search(items: list[Item], origin: Origin) -> list[Item]:
    reasoning = [item for item in items if item["type"] == "reasoning"]
    action = {"type": "search", "queries": ["tool loop"], "query": "tool loop"}
    search = {
        "id": origin.item_id("ws", len(reasoning)),
        "type": "web_search_call",
        "status": "completed",
        "action": action,
    }
    text = {"type": "output_text", "annotations": [_CITED], "logprobs": [], "text": _QUOTED}
    name = origin.item_id("msg", len(reasoning) + 1)
    return [*reasoning, search, _message(name, text, "final_answer")]


def _commentary(items: list[Item], origin: Origin) -> list[Item]:
    text: Item = {"type": "output_text", "annotations": [], "logprobs": [], "text": "Let me look. "}
    said = _message(origin.item_id("msg", 0x7F), text, "commentary")
    at = 1 if items and items[0]["type"] == "reasoning" else 0
    return [*items[:at], said, *items[at:]]


def _message(name: str, part: dict[str, Any], phase: str) -> Item:
    return {
        "id": name,
        "type": "message",
        "status": "completed",
        "content": [part],
        "phase": phase,
        "role": "assistant",
    }


def _open_reasoning(items: list[Item], origin: Origin) -> list[Item]:
    return [_readable(item) if item["type"] == "reasoning" else item for item in items]


def _readable(item: Item) -> Item:
    text = "".join(part["text"] for part in item["summary"]) or "I think."
    content = [{"type": "reasoning_text", "text": text}]
    return {"id": item["id"], "type": "reasoning", "status": "completed", "content": content, "summary": []}


def _two_summaries(items: list[Item], origin: Origin) -> list[Item]:
    return [{**item, "summary": _halves(item["summary"])} if item.get("summary") else item for item in items]


def _halves(summary: list[dict[str, Any]]) -> list[dict[str, Any]]:
    first, _, rest = summary[0]["text"].partition(". ")
    return [{"type": "summary_text", "text": text} for text in (f"{first}.", rest) if text]


def _unknown(items: list[Item], origin: Origin) -> list[Item]:
    return [*items, {"id": origin.item_id("uh", 0x7F), "type": "unheard_of", "value": 1}]


def _whole_arguments(events: list[Event]) -> list[Event]:
    return [event for event in events if "function_call_arguments" not in event[0]]


ITEMS: dict[str, Callable[[list[Item], Origin], list[Item]]] = {
    "web-search": _web_search,
    "commentary": _commentary,
    "open-reasoning": _open_reasoning,
    "two-summaries": _two_summaries,
    "unknown": _unknown,
}
EVENTS: dict[str, Callable[[list[Event]], list[Event]]] = {"whole-arguments": _whole_arguments}
PLAIN_FRAMES = "plain-frames"


def with_plain_frames(frames: list[bytes]) -> list[bytes]:
    """Return the frames as OpenRouter sends them: a comment first, without the names of events, `[DONE]` last."""
    return [b": \n\n", *(b"data: " + frame.partition(b"data: ")[2] for frame in frames), b"data: [DONE]\n\n"]
