"""Conversations with their nodes."""

from typing import Any, Literal, NotRequired, TypedDict


class ConversationInfo(TypedDict):
    """A conversation. Times are in epoch seconds."""

    id: str
    title: str
    created: float
    updated: float


class ConversationHead(ConversationInfo):
    """A conversation. `leaf_id` is the id of the node that the next question follows."""

    leaf_id: str | None


class ConversationSummary(ConversationInfo):
    """A conversation in a list. `match` is the text around the first search hit."""

    messages: int
    cost: float | None
    paid: float | None
    model: str | None
    is_running: bool
    match: NotRequired[str]


class Node(TypedDict):
    """A message or an answer in a conversation. Only answers have the fields of a run."""

    id: str
    parent_id: str | None
    role: Literal["user", "assistant"]
    created: float
    text: str
    parts: NotRequired[list[dict[str, Any]]]
    system: NotRequired[str]
    results: NotRequired[list[dict[str, Any]]]
    run_id: NotRequired[str]
    status: NotRequired[str]
    code: NotRequired[str | None]
    model: NotRequired[str]
    loop: NotRequired[str]
    cost: NotRequired[float | None]
    cost_estimated: NotRequired[bool]
    steps: NotRequired[int]
    ended: NotRequired[float | None]
    simulated: NotRequired[bool]
    first_token_ms: NotRequired[int | None]
    provider: NotRequired[str | None]
    column: NotRequired[int | None]


class Conversation(ConversationHead):
    """A conversation. `messages` contains the nodes of all branches, the oldest first."""

    messages: list[Node]
