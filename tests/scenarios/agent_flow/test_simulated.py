"""The whole flow without a key: the simulator builds and changes a page, over every API and on both loops."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.agent_flow.flow import FILE_TOOLS
from tests.scenarios.native.native_runs import LOOPS, app_over
from tests.support.running_app import RunningApp, settings_for
from tests.support.stream_reader import ParsedStream, check_stream

APIS = {
    "openrouter": None,
    "anthropic-messages": ("/anthropic", "anthropic"),
    "openai-responses": ("/openai/v1", "openai"),
    "openai-chat": ("/openai/v1", "openai"),
    "gemini": ("/gemini", "google"),
}
FILES = "/api/conversations/flow/files"


@pytest.fixture(params=APIS)
def served(request: pytest.FixtureRequest, simulator: BackgroundSimulator, tmp_path: Path) -> Iterator[RunningApp]:
    """Run an app over one API of the simulator."""
    native = APIS[request.param]
    if native is None:
        settings = settings_for(tmp_path, openrouter_base_url=simulator.base_url, signalbox_allow_loop_header=True)
        app = RunningApp(settings)
    else:
        app = app_over(simulator, tmp_path, dialect=request.param, base=native[0], family=native[1])
    with app as running:
        yield running


def ask(app: RunningApp, loop: str, prompt: str, **body: Any) -> ParsedStream:
    """Send a question with the file tools to the family that the app's API serves."""
    upstream = app.client.get("/api/models").json()
    model = next(one["id"] for one in upstream["models"] if one["id"].endswith("/sim"))
    sent = {"model": model, "prompt": prompt, "conversation_id": "flow", "tools": FILE_TOOLS, **body}
    response = app.client.post("/api/chat/stream", json=sent, headers={"x-tool-loop": loop})
    assert response.status_code == 200, response.text
    heard = check_stream(response.content)
    assert (heard.done["status"], heard.warnings) == ("complete", [])
    return heard


@pytest.mark.parametrize("loop", LOOPS)
def test_a_page_is_built_changed_and_read_again(served: RunningApp, loop: str) -> None:
    """Every request is one that the API accepts, and every edit fits the file; a person's change is read first."""
    built = ask(served, loop, "Build a landing page for a bakery", previews=True)
    assert [call["name"] for call in built.calls] == ["create_file"]
    page = served.client.get(f"{FILES}/index.html").text
    assert page.startswith("<!doctype html>")
    shown = "".join(event["text"] for event in built.of("preview") if event.get("key", "/content") == "/content")
    assert page.endswith(shown[-100:])
    assert built.text.startswith("I'll build a landing page about bakery")

    ask(served, loop, "Make the heading blue")
    blue = served.client.get(f"{FILES}/index.html").text
    assert "--heading: #1d4ed8;" in blue
    mine = blue.replace("Bakery", "Mine")
    assert served.client.put(f"{FILES}/index.html", content=mine).status_code == 200
    dark = ask(served, loop, "dark mode, please")
    assert [call["name"] for call in dark.calls] == ["read_file", "edit_file"]
    text = served.client.get(f"{FILES}/index.html").text
    assert "color-scheme: dark;" in text
    assert "<h1>Mine</h1>" in text
    [file] = served.client.get(FILES).json()["files"]
    assert (file["version"], file["author"]) == (4, "model")


def test_variants_differ_and_one_takes_over_a_part_of_another(simulator: BackgroundSimulator, tmp_path: Path) -> None:
    """Four variants of one model are four different pages; the chosen one gets the colours of the second."""
    with RunningApp(settings_for(tmp_path, openrouter_base_url=simulator.base_url)) as app:
        question = {"model": "openai/sim", "conversation_id": "flow", "tools": FILE_TOOLS}
        asked = {**question, "prompt": "Build a page for a bakery", "variants": [{}] * 4}
        started = app.client.post("/api/chat/variants", json=asked).json()["variants"]
        runs = [one["run_id"] for one in started]
        for run in runs:
            assert check_stream(app.client.get(f"/api/runs/{run}/events").content).done["status"] == "complete"
        pages = [app.client.get(f"{FILES}/index.html", params={"node_id": run}).text for run in runs]
        assert len(set(pages)) == 4

        heard = app.ask("Use the colours of option 2", **question, parent_id=runs[0])
        assert [call["name"] for call in heard.calls] == ["retrieve_option", "edit_file"]
        changed = app.client.get(f"{FILES}/index.html").text
        accents = [re.findall(r"--accent: [^;]+;", page) for page in (pages[1], changed)]
        assert accents[0] == accents[1]
        assert heard.text.startswith("Let me read option 2.")
