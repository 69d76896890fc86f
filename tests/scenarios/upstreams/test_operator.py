"""The operator sees the state of each upstream, and reloads upstreams.toml without a restart."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from signalbox.chat.loops.retry import Retry
from signalbox.services.upstreams.server import Server

from tests.scenarios.upstreams.conftest import Serve
from tests.scenarios.upstreams.two_upstreams import FILE, FIRST_KEY, MODEL, TwoUpstreams
from tests.support.fixtures import StartApp
from tests.support.processes import WAIT, Process, serving
from tests.support.running_app import error_of, read_until
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, says, waits
from tests.support.stream_reader import check_stream
from tests.support.workers import within

TOKEN = "operators-token-of-this-test"
ADMIN = {"authorization": f"Bearer {TOKEN}"}
SETTINGS = {"signalbox_admin_token": TOKEN}
NEW_KEY = "canary-key-after-the-reload"


async def overloaded(exchange: Exchange) -> None:
    """Answer with 503."""
    await exchange.whole(503, b"{}")


def states(two: TwoUpstreams) -> list[dict[str, Any]]:
    """Return what the operator sees."""
    response = two.app.client.get("/api/upstreams", headers=ADMIN)
    assert response.status_code == 200, response.text
    return response.json()["upstreams"]


def reload(two: TwoUpstreams) -> httpx.Response:
    """Reload the file as the operator."""
    return two.app.client.post("/api/upstreams/reload", headers=ADMIN)


def change(two: TwoUpstreams, old: str, new: str) -> None:
    """Change the file."""
    text = two.file.read_text(encoding="utf-8")
    assert old in text
    two.file.write_text(text.replace(old, new), encoding="utf-8")


def servers(two: TwoUpstreams) -> dict[str, Server]:
    """Return the upstreams of new runs."""
    return {server.entry.name: server for server in two.app.parts.upstreams.servers}


def is_closed(server: Server) -> bool:
    """Return whether the connections of an upstream are closed for good."""
    return server.http._pool._closed


def test_states_of_upstreams(serve: Serve, no_waiting: list[Retry]) -> None:
    """Name, dialect, host and breaker; no key, no path, no credentials."""
    two = serve([overloaded], [says("Hi.")], settings=SETTINGS)
    first, second = states(two)
    assert first == {
        "name": "first",
        "dialect": "openai-chat",
        "host": f"127.0.0.1:{two.first.port}",
        "state": "closed",
        "consecutive_failures": 0,
        "last_error": None,
        "since": None,
    }
    assert second["dialect"] == "openrouter-chat"
    for _ in range(2):
        two.ask(tools=[])
    first, second = states(two)
    assert (first["state"], first["consecutive_failures"], first["last_error"]) == ("open", 6, "UPSTREAM_OVERLOADED")
    assert first["since"] > 1_700_000_000
    assert (second["state"], second["consecutive_failures"]) == ("closed", 0)


def test_only_the_operator_may_look_and_reload(serve: Serve) -> None:
    """Without the operator token, both are a 401."""
    two = serve([says("Hi.")], [says("Hi.")], settings=SETTINGS)
    for method, path in (("GET", "/api/upstreams"), ("POST", "/api/upstreams/reload")):
        response = two.app.client.request(method, path)
        assert (response.status_code, error_of(response)["code"]) == (401, "UNAUTHORIZED")


def test_without_a_file_there_is_one_upstream(start_app: StartApp) -> None:
    """It has no name, and there is nothing to reload."""
    app, _ = start_app(says("Hi."), settings=SETTINGS)
    (only,) = app.client.get("/api/upstreams", headers=ADMIN).json()["upstreams"]
    assert (only["name"], only["dialect"], only["state"]) == ("", "openrouter-chat", "closed")
    response = app.client.post("/api/upstreams/reload", headers=ADMIN)
    assert response.status_code == 422
    assert error_of(response)["message"].startswith("There is no upstreams.toml. Set SIGNALBOX_UPSTREAMS")


def test_a_reload_changes_new_runs(serve: Serve, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    """Another order and another key; an unchanged upstream keeps its connections and its breaker."""
    two = serve([says("Hi.")], [says("Hi.")], settings=SETTINGS)
    assert two.ask().done["upstream"] == "first"
    before = servers(two)
    monkeypatch.setenv("FIRST_KEY", NEW_KEY)
    change(two, '["first", "second"]', '["second", "first"]')
    assert [one["name"] for one in reload(two).json()["upstreams"]] == ["first", "second"]
    assert two.ask().done["upstream"] == "second"
    two.ask(model=f"first@{MODEL}")
    assert two.first.asked[-1].headers["authorization"] == f"Bearer {NEW_KEY}"
    after = servers(two)
    assert after["second"] is before["second"]
    assert after["first"] is not before["first"]
    assert is_closed(before["first"])
    logged = "".join(capfd.readouterr())
    assert '"event":"upstreams.reloaded"' in logged
    assert NEW_KEY not in logged


def test_a_running_run_keeps_its_upstream(serve: Serve) -> None:
    """Also if the upstream is no longer in the file; its connections are closed when the run has ended."""
    two = serve([waits], [says("Hi.")], settings=SETTINGS)
    old = servers(two)["first"]
    with two.app.asking(model=MODEL, tools=[]) as response:
        chunks = response.iter_raw()
        seen = read_until(chunks, b"First ")
        change(two, 'name = "first"', 'name = "renamed"')
        change(two, '["first", "second"]', '["second"]')
        assert reload(two).status_code == 200
        assert two.ask().done["upstream"] == "second"
        assert not is_closed(old)
        two.first.opened.set()
        heard = check_stream(seen + b"".join(chunks))
    assert (heard.done["status"], heard.done["upstream"], heard.text) == ("complete", "first", "First second.")
    two.app.over(heard.events[0]["run_id"])
    within(WAIT, lambda: is_closed(old))


def test_a_rejected_request_holds_no_upstream(serve: Serve) -> None:
    """Its route is released, although no run started."""
    two = serve([says("Hi.")], [says("Hi.")], settings={**SETTINGS, "signalbox_allow_loop_header": True})
    response = two.app.client.post(
        "/api/chat/stream", json={"model": MODEL, "prompt": "Hello!"}, headers={"x-tool-loop": "v3"}
    )
    assert response.status_code == 422
    assert [server.users for server in servers(two).values()] == [0, 0]


def test_an_invalid_file_changes_nothing(serve: Serve, capfd) -> None:
    """The sentence names the line, in the response and in the log."""
    two = serve([says("Hi.")], [says("Hi.")], settings=SETTINGS)
    before = servers(two)
    change(two, 'dialect = "openai-chat"', 'dialect = "ollama"')
    response = reload(two)
    assert (response.status_code, error_of(response)["code"]) == (422, "INVALID_REQUEST")
    assert "upstreams.toml, line 3: there is no dialect 'ollama'" in error_of(response)["message"]
    assert '"event":"upstreams.reload_failed"' in "".join(capfd.readouterr())
    assert servers(two) == before
    assert two.ask().done["upstream"] == "first"


def test_a_reload_changes_the_catalogue(serve: Serve) -> None:
    """Models of a new list can be requested at once."""
    listed = FILE.replace('rename = {{ "acme/*"', 'listed = ["first-model"]\nrename = {{ "acme/*"')
    two = serve([says("Hi.")], [says("Hi.")], file=listed, settings=SETTINGS)
    change(two, '["first", "second"]', '["first"]')
    change(two, '["first-model"]', '["first-model", "first-newer"]')
    assert two.app.post(model="acme/newest", prompt="Hello!").status_code in (200, 422)
    assert reload(two).status_code == 200
    assert two.ask(model="acme/newer").done["upstream"] == "first"
    ids = [model["id"] for model in two.app.client.get("/api/models").json()["models"]]
    assert "acme/newer" in ids


@contextmanager
def served(folder: Path, *upstreams: ScriptedUpstream, **env: str) -> Iterator[Process]:
    """Serve with a file of these upstreams, in a process."""
    first, second = upstreams
    file = folder / "upstreams.toml"
    file.write_text(FILE.format(first=first.base_url, second=second.base_url), encoding="utf-8")
    (folder / "second.key").write_text("key-2", encoding="utf-8")
    given = {"SIGNALBOX_UPSTREAMS": str(file), "FIRST_KEY": FIRST_KEY, "SIGNALBOX_ADMIN_TOKEN": TOKEN, **env}
    with serving(folder, env=given) as process:
        yield process


@pytest.mark.e2e
def test_sighup_reloads_the_file(tmp_path: Path) -> None:
    """The server goes on; an invalid file is logged, and a corrected one is used."""
    with (
        ScriptedUpstream(says("Hi."), path="/v1") as first,
        ScriptedUpstream(says("Hi.")) as second,
        served(tmp_path, first, second) as process,
        process.client() as client,
    ):
        file = tmp_path / "upstreams.toml"
        text = file.read_text(encoding="utf-8")

        def upstream() -> str:
            answer = client.post("/api/chat/stream", json={"model": MODEL, "prompt": "Hello!", "tools": []})
            return check_stream(answer.content).done["upstream"]

        assert upstream() == "first"
        file.write_text("[[upstream]]\n", encoding="utf-8")
        os.kill(process.process.pid, signal.SIGHUP)
        within(WAIT, lambda: "upstreams.reload_failed" in process.errors())
        assert upstream() == "first"
        file.write_text(text.replace('["first", "second"]', '["second"]'), encoding="utf-8")
        os.kill(process.process.pid, signal.SIGHUP)
        within(WAIT, lambda: upstream() == "second")
        [failed] = [line for line in map(json.loads, process.errors().splitlines()) if "reload_failed" in line["event"]]
        assert "upstreams.toml, line 1" in failed["reason"]
