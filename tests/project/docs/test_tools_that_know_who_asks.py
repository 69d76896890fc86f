"""The example of docs/adding-a-tool.md that knows who asks: its code runs in an app with API tokens."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext
from signalbox.simulator.http.server import BackgroundSimulator

from tests.project.docs.pages import page
from tests.project.docs.snippets import block, module
from tests.scenarios.access.users import bearer, create_token
from tests.support.fakes import make_tool
from tests.support.running_app import RunningApp, settings_for
from tests.support.stream_reader import check_stream

GUIDE = page("adding-a-tool.md")


class Seen:
    """What a tool was told of its call."""

    context: ToolContext

    async def run(self, arguments: JsonObject, context: ToolContext) -> JsonValue:
        self.context = context
        return "Seen."


@pytest.fixture
def seen() -> Seen:
    """Return the record of the second tool."""
    return Seen()


@pytest.fixture
def app(simulator: BackgroundSimulator, tmp_path: Path, seen: Seen) -> Iterator[RunningApp]:
    """Run an app with the page's tool, and one that records its context."""
    tools: list[Tool] = [module("my_orders", block(GUIDE, "The tool that lists the orders")).my_orders]
    tools.append(make_tool("look_around", seen.run))
    settings = settings_for(tmp_path, openrouter_base_url=simulator.base_url)
    with RunningApp(settings, extra_tools=tools) as running:
        yield running


def body_on_page() -> dict[str, Any]:
    """Return the body of the page's request."""
    [command] = [code for code in GUIDE.blocks("sh") if "my_orders" in code]
    return json.loads(command.partition("-d '")[2].rpartition("'")[0])


def result_of(app: RunningApp, headers: dict[str, str], body: dict[str, Any]) -> dict[str, Any]:
    """Send a question; return the result of its first call."""
    response = app.client.post("/api/chat/stream", json=body, headers=headers)
    assert response.status_code == 200, response.text
    events = check_stream(response.content).events
    return next(event["result"] for event in events if event["type"] == "tool_result")


def test_the_orders_are_those_of_the_token_and_the_customer(app: RunningApp) -> None:
    """The page's request lists the lamps; another customer, another token and no token do not."""
    shop, other = (bearer(create_token(app, name)[1]) for name in ("shop", "school"))
    body = body_on_page()
    assert result_of(app, shop, body)["result"] == {"orders": ["Two lamps, sent on Monday"]}
    assert result_of(app, shop, {**body, "metadata": {"customer": "c-8"}})["result"] == {"orders": []}
    assert result_of(app, shop, {name: value for name, value in body.items() if name != "metadata"})["result"] == {
        "orders": []
    }
    for headers in (other, {}):
        assert result_of(app, headers, body)["code"] == "TOOL_UNAVAILABLE"


def test_a_tool_is_told_all_fields(app: RunningApp, seen: Seen) -> None:
    """The conversation's id is the one that the client chose."""
    token, text = create_token(app, "Ada")
    body = {"model": "openai/sim", "prompt": "Call look_around.", "conversation_id": "c1", "metadata": {"a": "b"}}
    response = app.client.post("/api/chat/stream", json=body, headers=bearer(text))
    context = seen.context
    assert (context.owner.id, context.owner.name) == (token.id, "Ada")
    assert (context.conversation_id, context.metadata) == ("c1", {"a": "b"})
    assert context.run_id == response.headers["x-run-id"]
