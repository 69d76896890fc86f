"""The loads of the benchmark, and their sizes in a quick and in a full run."""

from dataclasses import dataclass
from typing import Any, Literal

TargetName = Literal["server", "completions", "ai-sdk", "assistant-ui", "ag-ui", "before", "bare", "relay", "direct"]
CHAT, COMPLETIONS = "/api/chat/stream", "/api/v1/chat/completions"
# The protocols of pages, each answered by the same server as `server`.
PAGES: dict[TargetName, str] = {"ai-sdk": "/api/ai/chat", "assistant-ui": "/assistant", "ag-ui": "/agui"}
# The Python load client makes another id of it in each stream.
_CHAT_ID = "chat-00000000"
# Targets that are sent a question of contract v1.1, and run the tool loop themselves.
V1_TARGETS = frozenset({"server", "before", "bare"})
# Events of the answer that follows the tool results.
ANSWER_EVENTS = 20


@dataclass(frozen=True, slots=True)
class Load:
    """A load: the same question in `streams` streams, on `connections` connections.

    `script` names the upstream's answer, and `events` is its number of deltas in one stream.
    `targets` take turns: `direct` is the upstream itself, `completions` the chat completions of the same server as
    `server`, `before` the server of another source tree. `has_chats`: each stream begins a conversation.
    """

    row: str
    script: str
    events: int
    streams: int
    connections: int = 1
    targets: tuple[TargetName, ...] = ("relay", "server")
    ramp_ms: int = 0
    has_chats: bool = False

    @property
    def has_tools(self) -> bool:
        """Whether the model calls tools, so that a run is two steps."""
        return not self.script.startswith(("fast", "paced"))

    @property
    def stamps(self) -> int:
        """The number of events with a timestamp in one stream."""
        return ANSWER_EVENTS if self.has_tools else self.events

    def question(self, target: TargetName) -> dict[str, Any]:
        """Return the request body for a target."""
        body: dict[str, Any] = {"model": f"bench/{self.script}", "messages": [{"role": "user", "content": "Go on."}]}
        if self.has_chats:
            return _in_chat(body, target)
        if target not in V1_TARGETS:
            return {**body, "stream": True}
        return {**body, "tools": ["work"]} if self.has_tools else body

    def second_step(self) -> dict[str, Any]:
        """Return the request body of the second step; a target without a tool loop gets it from the client."""
        calls = [{"id": "call_0", "type": "function", "function": {"name": "work", "arguments": "{}"}}]
        asked = self.question("relay")
        asked["messages"] += [
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "call_0", "content": "{}"},
        ]
        return asked


def _in_chat(body: dict[str, Any], target: TargetName) -> dict[str, Any]:
    """Return a question as the first message of a chat."""
    model, text = body["model"], body["messages"][0]["content"]
    parts = [{"type": "text", "text": text}]
    match target:
        case "ai-sdk":
            return {"id": _CHAT_ID, "model": model, "messages": [{"id": "m", "role": "user", "parts": parts}]}
        case "assistant-ui":
            added = {"type": "add-message", "message": {"role": "user", "parts": parts}}
            return {"threadId": _CHAT_ID, "model": model, "commands": [added]}
        case "ag-ui":
            message = {"id": "m", "role": "user", "content": text}
            props = {"model": model}
            return {"threadId": _CHAT_ID, "runId": "r", "messages": [message], "forwardedProps": props}
        case _:
            return {**body, "conversation_id": _CHAT_ID}


def loads(*, quick: bool, further: tuple[TargetName, ...] = ()) -> list[Load]:
    """Return the loads in the order in which each round runs them; `further` are additional servers of v1.1."""
    paced = 75 if quick else 150
    v1: tuple[TargetName, ...] = ("relay", "server", *further)
    both: tuple[TargetName, ...] = ("relay", "completions", "server", *further)
    return [
        Load("burst", "fast-200", 200, 200, 16, targets=both),
        Load("pages", "fast-200", 200, 200, 16, targets=("server", *PAGES), has_chats=True),
        Load("paced", f"paced-50-{paced}", paced, 100, 100, targets=both, ramp_ms=1000),
        Load("one", "fast-20", 20, 60, targets=("direct", *both)),
        Load("tools", "tools", 206, 40 if quick else 60, targets=("direct", *v1)),
        Load("args", "longargs-1000000", 50_000, 2 if quick else 3, targets=v1),
        Load("eager", "overlap-300-0", 31, 2, targets=("direct", "server")),
    ]


def churn(*, quick: bool) -> Load:
    """Return 2,000 streams of eight seconds; once all are open, 250 end and 250 begin per second."""
    return Load("churn", "paced-2-16", 16, 2500 if quick else 3000, 2000, targets=("server",), ramp_ms=8000)


def crowd(*, quick: bool) -> Load:
    """Return 1,000 streams that are open at the same time for some seconds."""
    length, ramp = (12, 3000) if quick else (16, 4000)
    return Load("memory", f"paced-2-{length}", length, 1000, 1000, targets=("server",), ramp_ms=ramp)
