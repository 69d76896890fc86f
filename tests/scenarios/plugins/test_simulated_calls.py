"""The simulated model calls a plugin's tool: forced by name, required, or named in the prompt."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.packages import installed
from tests.support.processes import Process, serving
from tests.support.stream_reader import parse_stream

CODE = """
from signalbox.core.tools import Tool, ToolSpec

SCHEMA = {
    "type": "object",
    "properties": {
        "size": {"type": "string", "enum": ["small", "large"]},
        "toppings": {"type": "array", "items": {"type": "string"}},
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "number": {"type": "integer"}},
            "required": ["street", "number"],
        },
    },
    "required": ["size", "toppings", "address"],
}

async def order(arguments, context):
    return {"ordered": arguments}

def tools():
    return [Tool(ToolSpec("order_pizza", "Orders a pizza.", SCHEMA), order)]
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """Serve with the package installed."""
    folder = tmp_path_factory.mktemp("pizza")
    with serving(
        folder, env=installed(folder, "acme-pizza", CODE, {"signalbox.tools": {"p": "acme_pizza:tools"}})
    ) as one:
        yield one


def ordered(server: Process, prompt: str, **body: Any) -> dict[str, Any]:
    """Send a question; return the arguments that the tool received."""
    with server.client() as client:
        response = client.post("/api/chat/stream", json={"model": "openai/sim", "prompt": prompt, **body})
    heard = parse_stream(response.content)
    assert heard.done["status"] == "complete"
    [told] = [event for event in heard.of("tool_result") if event["name"] == "order_pizza"]
    assert told["result"]["success"], told
    return told["result"]["result"]["ordered"]


@pytest.mark.parametrize(
    "body",
    [
        {"tool_choice": {"type": "function", "function": {"name": "order_pizza"}}},
        {"tool_choice": "required", "tools": ["order_pizza"]},
        {"prompt": "Please order pizza."},
        {"prompt": "Use order_pizza, large."},
    ],
    ids=json.dumps,
)
def test_a_plugins_tool_is_called_with_arguments_that_fit(server: Process, body: dict[str, Any]) -> None:
    """The nested object, list and enum of its schema are filled, and its function runs."""
    made = ordered(server, **{"prompt": "Hello!", **body})
    assert made["size"] == ("large" if "large" in body.get("prompt", "") else "small")
    assert all(isinstance(one, str) for one in made["toppings"])
    assert isinstance(made["address"]["number"], int)


def test_arguments_may_be_written_out(server: Process) -> None:
    """JSON after a tool's name in the prompt is passed as it is."""
    given = {"size": "large", "toppings": ["basil"], "address": {"street": "Via Roma", "number": 7}}
    assert ordered(server, f"Call order_pizza {json.dumps(given)}") == given


def test_an_installed_plugin_joins_the_list_of_tools(server: Process) -> None:
    """The plugin's tool is listed beside the built-in tools."""
    with server.client() as client:
        names = {tool["name"] for tool in client.get("/api/tools").json()["tools"]}
    assert {"search_web", "read_url", "save_note", "get_current_time", "calculate", "order_pizza"} <= names
