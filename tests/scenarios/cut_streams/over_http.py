"""Cut answers over HTTP: a provider that plays them, and a comparison of the app's stream with the oracle."""

import json
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

from tests.scenarios.cut_streams.in_process import CODES
from tests.scenarios.cut_streams.oracle import ANSWER, Expected
from tests.scenarios.cut_streams.streams import NOTE, SEARCH, Stream, answer
from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import Exchange
from tests.support.stream_reader import ParsedStream, check_stream

How = Literal["clean", "broken", "stalled"]


@dataclass
class Plan:
    """What the provider sends for the first request of a run: these reads, then an end.

    Later requests get complete answers, unless `always` is set.
    """

    stream: Stream
    reads: list[bytes]
    how: How
    always: bool = False
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@dataclass
class CutStreamApp:
    """An app over a provider that finds each run's plan by its prompt; notes are files that tests count."""

    app: RunningApp
    provider: "Provider"
    notes: Path

    def play(self, plan: Plan, loop: str, *, tools: bool = True) -> tuple[ParsedStream, int]:
        """Send one question; return the checked stream and how many notes were written."""
        before = self.written()
        heard = self.ask(plan, loop, tools=tools)
        return heard, self.written() - before

    def ask(self, plan: Plan, loop: str, *, tools: bool = True) -> ParsedStream:
        """Send one question; several can run at once."""
        prompt = self.provider.register(plan)
        body = {"model": plan.stream.model, "prompt": prompt, "tools": [SEARCH, NOTE] if tools else []}
        response = self.app.client.post("/api/chat/stream", json=body, headers={"x-tool-loop": loop})
        assert response.headers["x-tool-loop"] == loop
        return check_stream(response.content)

    def written(self) -> int:
        return len(list(self.notes.glob("*.md")))


class Provider:
    """Plays plans."""

    def __init__(self) -> None:
        self._plans: dict[str, Plan] = {}
        self._numbers = count(1)

    def register(self, plan: Plan) -> str:
        """Store a plan; return the prompt that selects it."""
        prompt = f"Tell me. ({next(self._numbers)})"
        self._plans[prompt] = plan
        return prompt

    async def __call__(self, exchange: Exchange) -> None:
        body = exchange.asked.body
        plan = self._plans[next(m["content"] for m in body["messages"] if m["role"] == "user")]
        plan.asked.append(body)
        said = answer(ANSWER) if any(m["role"] == "assistant" for m in body["messages"]) else plan.stream
        is_first = plan.always or len(plan.asked) == 1
        if body.get("stream"):
            await exchange.head()
            await self._send(exchange, plan.reads if is_first else list(said.frames), plan.how if is_first else "clean")
        else:
            await exchange.head(kind="application/json")
            await self._send(exchange, plan.reads if is_first else [said.body], plan.how if is_first else "clean")

    async def _send(self, exchange: Exchange, reads: list[bytes], how: How) -> None:
        for read in reads:
            await exchange.send(read)
        if how == "clean":
            await exchange.raw(b"0\r\n\r\n")
            exchange.keep = True
        elif how == "stalled":
            await exchange.client_left()


def fault(heard: ParsedStream, notes: int, plan: Plan, expected: Expected) -> str | None:
    """Return the first difference between a stream and what is expected, or None."""
    done = heard.done
    said = {name: _said(heard, name) for name in ("text", "refusal", "reasoning")}
    wanted = {name: getattr(expected, name) for name in said}
    low, high = expected.searches
    searches = sum(event["name"] == SEARCH for event in heard.of("tool_executing"))
    history = json.dumps(plan.asked[-1]["messages"])
    judged = {
        f"it ended {done['status']} {done.get('code')}": done["status"] == expected.status
        and done.get("code") in CODES[expected.status],
        f"it said {said}, not {wanted}": said == wanted,
        f"it ran {searches} searches": low <= searches <= high,
        f"it wrote {notes} notes": notes == expected.notes,
        f"it asked {len(plan.asked)} times": len(plan.asked) == expected.requests,
        "a signature did not go back": all(signature in history for signature in expected.signatures),
    }
    return next((f"{wrong}; expected {expected}" for wrong, holds in judged.items() if not holds), None)


def _said(heard: ParsedStream, name: str) -> str:
    if name == "reasoning":
        return heard.reasoning
    return "".join(e["content"] for e in heard.of("content") if bool(e.get("refusal")) == (name == "refusal"))
