"""Plugins cannot take the server down: a hostile package in a real server, on both loops."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import httpx
import pytest
from signalbox.tools import plugins
from signalbox.tools.registry import from_packages

from tests.scenarios.plugins import hostile
from tests.support.packages import installed
from tests.support.processes import Process, serving
from tests.support.stream_reader import ParsedStream, parse_stream

SECRET = "s3cret"
CODE = Path(hostile.__file__).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """Serve with the hostile package installed."""
    folder = tmp_path_factory.mktemp("hostile")
    with serving(folder, env=installed(folder, "hostile", CODE, hostile.ENTRIES)) as process:
        yield process


@pytest.fixture(scope="module")
def client(server: Process) -> Iterator[httpx.Client]:
    """Return a client of that server."""
    with server.client() as one:
        yield one


def ask(client: httpx.Client, tool: str, loop: str = "v2", **body: Any) -> ParsedStream:
    """Let the simulated model call one tool."""
    body = {"model": "openai/sim", "prompt": f"Please use {tool}.", "tools": [tool], **body}
    response = client.post("/api/chat/stream", json=body, headers={"x-tool-loop": loop})
    assert response.status_code == 200, response.text
    return parse_stream(response.content)


def result(heard: ParsedStream) -> dict[str, Any]:
    """Return the one result of a run that completed."""
    assert heard.done["status"] == "complete"
    [told] = heard.of("tool_result")
    return told["result"]


@pytest.mark.parametrize("loop", ["v2", "legacy"])
@pytest.mark.parametrize("name", sorted(hostile.RUNS))
def test_whatever_a_tool_raises_is_a_tool_error(server: Process, client: httpx.Client, name: str, loop: str) -> None:
    """The run continues with a failed call; neither the model nor the log receives the exception's text."""
    told = result(ask(client, name, loop))
    fine = {"exits_in_a_callback", "leaves_a_task", "starts_a_thread", "stops_the_loop", "plain"}
    assert told["success"] is (name in fine), told
    if not told["success"]:
        assert told["code"] == ("RATE_LIMIT" if name == "calm" else "TOOL_FAILED")
        assert SECRET not in told["error"]
    assert client.get("/health/live").status_code == 200
    assert server.process.poll() is None
    assert SECRET not in server.errors()


@pytest.mark.parametrize("loop", ["v2", "legacy"])
@pytest.mark.parametrize("name", sorted(hostile.SLOW))
def test_a_tool_that_ignores_its_cancellation_holds_nothing(client: httpx.Client, name: str, loop: str) -> None:
    """A tool that ignores its cancellation for an hour does not delay the end of its run."""
    told = result(ask(client, name, loop))
    assert (told["code"], told["error"]) == ("TIMEOUT", f"{name} did not answer within 0.3 s")
    assert result(ask(client, "plain", loop))["result"] == "not async"


def test_code_that_blocks_holds_up_its_own_package_alone(server: Process, client: httpx.Client) -> None:
    """A call that blocks its package's thread does not block the server or other packages' tools."""
    for name in [*hostile.BLOCKING, *hostile.BLOCKING]:
        assert result(ask(client, name))["code"] == "TIMEOUT"
        assert client.get("/health/live").status_code == 200
        assert result(ask(client, "plain"))["result"] == "not async"
    assert result(ask(client, "calculate", prompt="What is 6 * 7?"))["result"]["result"] == 42


def test_a_tool_of_many_calls_has_one_result_for_each(client: httpx.Client) -> None:
    """Parallel calls that raise SystemExit each have one failure."""
    heard = ask(
        client, "exits", prompt="Please use exits, then use closes, then use odd.", tools=["exits", "closes", "odd"]
    )
    assert heard.done["status"] == "complete"
    assert heard.result_codes() == ["TOOL_FAILED"] * 3


def test_a_search_key_that_exits_leaves_the_search(client: httpx.Client) -> None:
    """If the search key raises, equal arguments count as an equal search."""
    assert result(ask(client, "finds"))["result"] == "not async"


def test_what_cannot_be_loaded_is_listed_with_the_reason(client: httpx.Client) -> None:
    """Every invalid spec, import and return value is listed in GET /api/tools with a reason and without its text."""
    told = client.get("/api/tools")
    assert SECRET not in told.text
    reasons = {tool["name"]: tool["unavailable"] for tool in told.json()["tools"] if not tool["available"]}
    assert reasons.pop("leaves") == "hostile: it could not be loaded (SystemExit)"
    assert reasons.pop("no_such").endswith("does not exist: there is no module hostile.nothing")
    assert reasons.pop("no_value").startswith("hostile: it could not be loaded (")
    bad = {reasons.pop(name).removeprefix("hostile: ") for name in sorted(reasons) if name.startswith("bad")}
    reasons.pop("screenshot_preview", None)  # Chromium may be missing
    assert reasons == {}
    assert bad == {
        "its name 5 is not a letter followed by at most 63 letters, digits and underscores",
        "its name 'no-name' is not a letter followed by at most 63 letters, digits and underscores",
        "it has no description",
        "its parameters are not JSON",
        "its parameters are not a valid JSON Schema",
        "its timeout is not a positive number of seconds, at most 3,600",
        "its category is not one of search, utility, other",
        "its visibility is not one of primary, secondary, hidden",
        "its title is not one line of at most 60 characters",
        "its summary is not one line of at most 200 characters",
        "its search_key is not a function",
        "its url_argument is none of its arguments",
        "its run is not a function",
        "the reason why it is unavailable is not a text of at most 500 characters",
        "its spec is not a ToolSpec",
        'it is named "twice", and there is a tool of that name already',
    }


def test_the_log_names_file_and_line_and_nothing_else(server: Process, client: httpx.Client) -> None:
    """The log contains neither arguments nor the exception's text."""
    heard = ask(client, "exits")
    lines = [json.loads(line) for line in server.errors().splitlines()]
    [line] = [one for one in lines if one["event"] == "tool.failed" and one["run_id"] == heard.events[0]["run_id"]]
    at = next(n for n, text in enumerate(CODE.splitlines(), 1) if text == '    sys.exit("s3cret")')
    assert (line["tool"], line["error"]) == ("exits", "SystemExit")
    assert line["raised_at"].endswith(f"/hostile.py:{at}")
    assert SECRET not in server.errors()


def test_an_entry_point_that_hangs_does_not_keep_the_server_from_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point that hangs is given up after a timeout, with the reason, and the next one is loaded."""
    monkeypatch.setattr(plugins, "_LOAD_SECONDS", 0.05)
    found = [
        EntryPoint("lingers", "tests.scenarios.plugins.hostile:lingers", "signalbox.tools"),
        EntryPoint("well", "tests.scenarios.plugins.hostile:well", "signalbox.tools"),
    ]
    with ExitStack() as stack:
        tools = from_packages((), found, on_close=stack.callback)
    assert [(tool.spec.name, tool.unavailable) for tool in tools] == [
        ("lingers", "tests.scenarios.plugins.hostile: it could not be loaded within 0.05 s"),
        ("well", None),
    ]


def test_the_server_ends_when_it_is_told_to(tmp_path: Path) -> None:
    """Threads that a plugin blocks do not delay the shutdown."""
    with (
        serving(tmp_path, env=installed(tmp_path, "hostile", CODE, hostile.ENTRIES)) as process,
        process.client() as one,
    ):
        for name in [*hostile.SLOW, *hostile.BLOCKING]:
            assert result(ask(one, name))["code"] == "TIMEOUT"
        process.process.terminate()
        assert process.end() == 0
