"""The setup of a scenario: the app with one of its loops, a scripted provider, and a search server that counts."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from signalbox.core.events import LoopName

from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import Exchange, ScriptedUpstream
from tests.support.stream_reader import ParsedStream

TOOLS = ["search_web", "get_current_time", "calculate"]
Scenarios = Callable[..., "Scenario"]


@dataclass(frozen=True)
class Scenario:
    """An app, its upstream and its search server."""

    loop: LoopName
    app: RunningApp
    upstream: ScriptedUpstream
    engine: ScriptedUpstream

    def ask(self, prompt: str = "What are tides?", **body: Any) -> ParsedStream:
        """Send a question, by default with the three read-only tools, and check which loop ran it."""
        heard = self.app.ask(prompt, **{"tools": TOOLS, **body})
        assert heard.done["loop"] == self.loop
        return heard

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [asked.body for asked in self.upstream.asked]

    @property
    def streamed(self) -> list[bool]:
        """Return for each upstream request whether it asked for a stream."""
        return [body["stream"] for body in self.bodies]

    @property
    def searched(self) -> list[str]:
        """Return the queries that the search server received."""
        return [parse_qs(urlsplit(asked.path).query)["q"][0] for asked in self.engine.catalogues]

    def each(self, *legacy: bool) -> list[bool]:
        """Return the expected `streamed`: V2 streams every step, legacy as given."""
        return list(legacy) if self.loop == "legacy" else [True] * len(legacy)


async def finds(exchange: Exchange) -> None:
    """Return one page for every query."""
    query = parse_qs(urlsplit(exchange.asked.path).query)["q"][0]
    page = {"title": f"About {query}", "url": f"https://example.org/{query.replace(' ', '-')}", "content": "All of it."}
    await exchange.whole(200, json.dumps({"results": [page]}).encode())


def results_of(body: dict[str, Any]) -> dict[str, str]:
    """Return the results in a request by call id; check that they follow their calls in order."""
    found: dict[str, str] = {}
    open_calls: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert open_calls.pop(0) == message["tool_call_id"]
            assert message["tool_call_id"] not in found or body["model"] == "openai/same-ids"
            found[message["tool_call_id"]] = message["content"]
        else:
            assert open_calls == []
            open_calls = [call["id"] for call in message.get("tool_calls", [])]
    assert open_calls == []
    return found
