"""One case with one library: the scripted upstream, the program, and what was seen from outside."""

import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.comparison.program import Program
from tests.comparison.stories import MESSAGES_PATH, Reply, answers, send
from tests.support.scripted_upstream import Exchange, ScriptedUpstream


class _Upstream(ScriptedUpstream):
    """Plays a story in both dialects; `left_at`: when clients closed connections to replies that were not over."""

    def __init__(self, story: Sequence[Reply], path: str) -> None:
        super().__init__(self._play, path=path)
        self._story = story
        self.left_at: list[float] = []

    def _is_chat(self, path: str) -> bool:
        return path.partition("?")[0].endswith(("/chat/completions", MESSAGES_PATH))

    async def _play(self, exchange: Exchange) -> None:
        number = len(self.asked)
        reply = self._story[min(number, len(self._story)) - 1]
        if reply.calls and _forbids_calls(exchange.asked.body):
            reply = answers()
        await send(reply, exchange, number)
        if reply.end == "hold":
            self.left_at.append(time.time())


def _forbids_calls(request: dict[str, Any]) -> bool:
    return request.get("tool_choice") in ("none", {"type": "none"})


@dataclass(frozen=True)
class Execution:
    """One execution of a tool."""

    tool: str
    arguments: str
    result: str
    started: float
    ended: float | None = None
    cancelled: float | None = None


@dataclass(frozen=True)
class Observation:
    """What the upstream and the tools saw, and what the program printed."""

    seen: dict[str, Any]
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    executions: list[Execution] = field(default_factory=list[Execution])
    left_at: list[float] = field(default_factory=list[float])
    story: Sequence[Reply] = ()

    @property
    def is_offered(self) -> bool:
        """Whether the library has what the case needs."""
        return "not_offered" not in self.seen

    @property
    def value(self) -> Any:
        """What the program saw, None if an exception ended it."""
        return self.seen.get("value")

    @property
    def error(self) -> str:
        """The class of the exception that the caller got."""
        return self.seen.get("error", "")

    @cached_property
    def lost(self) -> int:
        """The number of complete executions whose result is in no request."""
        texts = [json.dumps(request) for request in self.requests]
        done = [one for one in self.executions if one.ended is not None]
        return sum(not any(one.result in text for text in texts) for one in done)

    @property
    def repeated(self) -> int:
        """The number of executions beyond the first of the same call."""
        return len(self.executions) - len({(one.tool, one.arguments) for one in self.executions})

    @property
    def repeated_requests(self) -> int:
        """The number of requests with the same messages as the one before, whose reply was complete."""
        pairs = zip(self.requests, self.requests[1:], self.story, strict=False)
        return sum(one["messages"] == other["messages"] and reply.is_complete for one, other, reply in pairs)

    @property
    def at_once(self) -> int:
        """The greatest number of executions at the same time."""
        changes = [(one.started, 1) for one in self.executions]
        changes += [(one.ended or one.cancelled or float("inf"), -1) for one in self.executions]
        running = most = 0
        for _, change in sorted(changes):
            running += change
            most = max(most, running)
        return most

    def roles(self, number: int) -> list[str]:
        """Return the roles of the messages of a request, from 1, in the same words for both dialects."""
        if len(self.requests) < number:
            return []
        return [role for message in self.requests[number - 1]["messages"] for role in _roles(message)]

    def results(self, number: int) -> str:
        """Return the tool results of a request as one text."""
        messages = self.requests[number - 1]["messages"] if len(self.requests) >= number else []
        return " ".join(_content(message) for message in messages if "tool" in _roles(message))


def _roles(message: dict[str, Any]) -> list[str]:
    """Return "tool" for the results in a message of Anthropic's dialect, before the role of its text."""
    content = message.get("content")
    if message["role"] != "user" or not isinstance(content, list):
        return [message["role"]]
    kinds = ["tool" if block["type"] == "tool_result" else "user" for block in content]
    return [kind for place, kind in enumerate(kinds) if kind == "tool" or place == 0 or kinds[place - 1] == "tool"]


def _content(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else json.dumps(content)


def observe(program: Program, action: str, story: Sequence[Reply]) -> Observation:
    """Run an action against a story."""
    with tempfile.TemporaryDirectory(prefix="comparison-") as folder:
        with _Upstream(story, program.library.path) as upstream:
            log = Path(folder) / "executions"
            seen = program.ask(action=action, base_url=upstream.base_url, log=str(log))
            left_at = [*upstream.left_at]
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return Observation(seen, [asked.body for asked in upstream.asked], read_executions(lines), left_at, story)


def read_executions(lines: list[str]) -> list[Execution]:
    """Read the file to which the tools of a program have written their executions."""
    entries = [json.loads(line) for line in lines]
    times = {(entry["event"], entry["result"]): entry["at"] for entry in entries}
    return [
        Execution(
            entry["tool"],
            json.dumps(entry["arguments"], sort_keys=True),
            entry["result"],
            entry["at"],
            times.get(("ended", entry["result"])),
            times.get(("cancelled", entry["result"])),
        )
        for entry in entries
        if entry["event"] == "started"
    ]
