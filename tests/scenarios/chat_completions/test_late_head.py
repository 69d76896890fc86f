"""The head of a stream waits for the first visible event: what a client sees if it leaves, or if the model is slow."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from signalbox.app import run_stream
from signalbox.core.codes import Code

from tests.support.running_app import WAIT, RunningApp, settings_for
from tests.support.scripted_upstream import Exchange, Script, ScriptedUpstream, says, sends, silent

PATH = "/v1/chat/completions"
BODY: dict[str, Any] = {"model": "openai/sim", "messages": [{"role": "user", "content": "Hello!"}]}
_CREDIT = json.dumps({"error": {"code": 402, "message": "Needs more credits, but can only afford 900."}}).encode()


@contextmanager
def serving(data: Path, *scripts: Script) -> Iterator[tuple[RunningApp, ScriptedUpstream]]:
    """Serve the app over an upstream that plays these scripts."""
    with (
        ScriptedUpstream(*scripts) as upstream,
        RunningApp(settings_for(data, openrouter_base_url=upstream.base_url)) as app,
    ):
        yield app, upstream


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let heads wait for a moment instead of ten seconds."""
    monkeypatch.setattr(run_stream, "_HEAD_SECONDS", 0.05)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let heads wait for longer than any test does."""
    monkeypatch.setattr(run_stream, "_HEAD_SECONDS", 3600.0)


def only_run(app: RunningApp) -> dict[str, Any]:
    """Return the run that was started."""
    [run] = app.client.get("/api/runs").json()["runs"]
    return run


async def comment(exchange: Exchange) -> None:
    """Send OpenRouter's comment while it waits for a provider, and nothing else until the client disconnects."""
    await exchange.head()
    await exchange.send(b": OPENROUTER PROCESSING\n\n")
    await exchange.client_left()


def gated(later: Script) -> Script:
    """Make a script that plays another one once the test opens the gate."""

    async def script(exchange: Exchange) -> None:
        await exchange.gate_opened()
        await later(exchange)

    return script


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("script", [silent, comment], ids=["before a byte", "after a comment"])
def test_a_client_that_leaves_before_the_head_ends_the_run(tmp_path: Path, script: Script, stream: bool) -> None:
    """Its upstream request ends although the head is not due, and the run is cancelled."""
    with serving(tmp_path, script) as (app, upstream):
        body = json.dumps({**BODY, "stream": stream}).encode()
        head = (
            f"POST {PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
        )
        with socket.create_connection(("127.0.0.1", app.port), WAIT) as client:
            client.sendall(f"{head}\r\n\r\n".encode() + body)
            assert upstream.wait_until(lambda: len(upstream.asked) == 1)
            run_id = only_run(app)["run_id"]
        assert upstream.wait_until(lambda: len(upstream.left) == 1)
        done = app.over(run_id).done
        assert done is not None
        assert (done.status, len(upstream.asked)) == ("cancelled", 1)
        assert app.call(lambda: app.parts.streams.open) == 0


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("first", [[], [sends(_CREDIT, status=402, kind="application/json")]], ids=["", "warned"])
def test_a_slow_first_token_comes_after_the_head(tmp_path: Path, first: list[Script]) -> None:
    """The head is sent although the model has said nothing; the stream is that of a client that comes later."""
    with serving(tmp_path, *first, gated(says("Late ", "but whole."))) as (app, upstream):
        request = {"headers": {"idempotency-key": "slow"}, "json": {**BODY, "stream": True}}
        with app.client.stream("POST", PATH, **request) as response:
            assert response.status_code == 200
            assert only_run(app)["status"] == "running"
            upstream.opened.set()
            late = response.read()
        again = app.client.post(PATH, **request)
        assert late == again.content
        assert late.startswith(f": warning {Code.CREDIT_CLAMP}\n\n".encode() if first else b"data: ")
        assert late.count(b'"content":"Late "') == late.count(b'"content":"but whole."') == 1
        assert len(upstream.asked) == 1 + len(first)


@pytest.mark.usefixtures("impatient")
def test_a_failure_after_the_head_ends_the_stream(tmp_path: Path) -> None:
    """Once the head is sent, an error can only be in a chunk; a client that comes later gets the HTTP error."""
    refuses = sends(b'{"error":{"code":403,"message":"Forbidden"}}', status=403, kind="application/json")
    with serving(tmp_path, gated(refuses)) as (app, upstream):
        request = {"headers": {"idempotency-key": "refused"}, "json": {**BODY, "stream": True}}
        with app.client.stream("POST", PATH, **request) as response:
            assert response.status_code == 200
            upstream.opened.set()
            frames = response.read().split(b"\n\n")
        assert frames[-2:] == [b"data: [DONE]", b""]
        error = json.loads(frames[-3].removeprefix(b"data: "))["error"]
        again = app.client.post(PATH, **request)
        assert (again.status_code, again.json()["error"]["message"]) == (403, error["message"])


@pytest.mark.usefixtures("impatient")
def test_a_client_that_leaves_after_a_late_head_ends_the_run(tmp_path: Path) -> None:
    """The event that the head did not wait for is still awaited: the disconnect cancels that too."""
    with serving(tmp_path, silent) as (app, upstream):
        with app.client.stream("POST", PATH, json={**BODY, "stream": True}) as response:
            run_id = response.headers["x-run-id"]
            assert upstream.wait_until(lambda: len(upstream.asked) == 1)
        assert upstream.wait_until(lambda: len(upstream.left) == 1)
        done = app.over(run_id).done
        assert done is not None
        assert (done.status, app.call(lambda: app.parts.streams.open)) == ("cancelled", 0)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_client_that_closes_its_sending_side_has_left(tmp_path: Path, stream: bool) -> None:
    """TCP does not tell a half-closed connection from a closed one, so the run ends, and nothing is sent."""
    with serving(tmp_path, silent) as (app, upstream):
        body = json.dumps({**BODY, "stream": stream}).encode()
        kind = f"content-type: application/json\r\ncontent-length: {len(body)}"
        head = f"POST {PATH} HTTP/1.0\r\nhost: 127.0.0.1\r\n{kind}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", app.port), WAIT) as client:
            client.sendall(head.encode() + body)
            assert upstream.wait_until(lambda: len(upstream.asked) == 1)
            client.shutdown(socket.SHUT_WR)
            assert client.recv(1) == b""
        assert upstream.wait_until(lambda: len(upstream.left) == 1)
        assert only_run(app)["status"] == "cancelled"
