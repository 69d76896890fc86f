"""Answers that only this API has, by model id: they change the blocks and the stop reason of an ordinary answer.

| id | what the API does |
|---|---|
| sim-redacted | thinking is encrypted: a `redacted_thinking` block |
| sim-pause | a server tool is not done: stop reason `pause_turn`; a request that ends with this answer continues it |
| sim-window | the context window is full: stop reason `model_context_window_exceeded` |
| sim-server-search | a search of the API itself, with its results and a cited sentence |
| sim-unknown | a block, a delta and an event of types that no client knows |
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .thinking import redacted_block

PREFIX = "sim-"
Block = dict[str, Any]
_URL = "https://example.org/7"
_SEARCH_ID = "srvtoolu_01SimulatedSearch000001"


@dataclass(frozen=True, slots=True)
class Stop:
    """Why an answer ended."""

    reason: str
    sequence: str | None = None
    details: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """The blocks of an answer, the arguments of its calls as written, and why it ended."""

    blocks: list[Block]
    stop: Stop
    arguments: dict[str, str] = field(default_factory=dict[str, str])
    """The arguments of each call by id: they may be invalid JSON, which a block cannot hold."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What an accent knows about the request."""

    model: str
    reasoning: str
    continues: bool
    """Whether the request ends with an answer that is to be continued."""


Accent = Callable[[Content, Situation], Content]


def _redacted(content: Content, situation: Situation) -> Content:
    if not situation.reasoning:
        return content
    hidden = redacted_block(situation.model, situation.reasoning)
    blocks = [hidden if block["type"] == "thinking" else block for block in content.blocks]
    return Content(blocks, content.stop, content.arguments)


def _pause(content: Content, situation: Situation) -> Content:
    if situation.continues:
        return Content([*_results(), *_texts(content)], Stop("end_turn"))
    return Content([*_thinking(content), _search()], Stop("pause_turn"))


def _window(content: Content, situation: Situation) -> Content:
    return Content(content.blocks, Stop("model_context_window_exceeded"), content.arguments)


def _server_search(content: Content, situation: Situation) -> Content:
    cited = {
        "type": "web_search_result_location",
        "url": _URL,
        "title": "The loop",
        "encrypted_index": "Eo8BCioIAhgB",
        "cited_text": "A step is one model call.",
    }
    quoted = {"type": "text", "text": "A step is one model call.", "citations": [cited]}
    return Content([*_thinking(content), _search(), *_results(), quoted, *_texts(content)], Stop("end_turn"))


def _unknown(content: Content, situation: Situation) -> Content:
    return Content([{"type": "unheard_of", "value": 1}, *content.blocks], content.stop, content.arguments)


def _thinking(content: Content) -> list[Block]:
    return [block for block in content.blocks if "thinking" in block["type"]]


def _texts(content: Content) -> list[Block]:
    return [block for block in content.blocks if block["type"] == "text"]


def _search() -> Block:
    return {
        "type": "server_tool_use",
        "id": _SEARCH_ID,
        "name": "web_search",
        "input": {"query": "tool loop"},
        "caller": {"type": "direct"},
    }


def _results() -> list[Block]:
    result = {
        "type": "web_search_result",
        "title": "The loop",
        "url": _URL,
        "encrypted_content": "EqgfCioIARgB",
        "page_age": None,
    }
    return [{"type": "web_search_tool_result", "tool_use_id": _SEARCH_ID, "content": [result]}]


ACCENTS: dict[str, Accent] = {
    "redacted": _redacted,
    "pause": _pause,
    "window": _window,
    "server-search": _server_search,
    "unknown": _unknown,
}


def accent_of(model: str) -> Accent | None:
    """Return the accent that a native id names."""
    return ACCENTS.get(model.removeprefix(PREFIX)) if model.startswith(PREFIX) else None
