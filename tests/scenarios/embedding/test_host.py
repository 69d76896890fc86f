"""A host's own middleware, error handlers and state beside a mounted Signalbox."""

import logging
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.middleware.gzip import GZipMiddleware
from structlog.testing import capture_logs

from tests.conftest import ROOT
from tests.scenarios.embedding.hosts import host_of, mounted, serving_host
from tests.support.processes import environment
from tests.support.running_app import error_of, read_until
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, no_models
from tests.support.stream_reader import check_stream

STREAM = "/chat/api/chat/stream"
BODY: dict[str, Any] = {"model": "openai/sim", "prompt": "Hello!", "tools": []}


async def _in_two_pieces(exchange: Exchange) -> None:
    await exchange.head()
    await exchange.send_text("one ")
    await exchange.gate_opened()
    await exchange.send_text("two")
    await exchange.end()


async def _until_left(exchange: Exchange) -> None:
    await exchange.head()
    await exchange.send_text("one ")
    await exchange.client_left()


def _host_with_middleware(folder: Path, upstream: ScriptedUpstream) -> FastAPI:
    """Make a host with a function as middleware, compression, an error handler and a route."""
    chat = mounted(folder, openrouter_base_url=upstream.base_url)
    host = host_of(chat)
    host.add_middleware(GZipMiddleware, minimum_size=1)

    @host.middleware("http")
    async def name_caller(request: Request, call_next: Any) -> Response:
        request.state.caller = "the host's"
        response: Response = await call_next(request)
        response.headers["x-host"] = request.state.caller
        return response

    @host.exception_handler(Exception)
    async def explain(_request: Request, _error: Exception) -> Response:
        return JSONResponse({"of": "host"}, 500)

    @host.exception_handler(404)
    async def not_found(_request: Request, _error: Exception) -> Response:
        return JSONResponse({"of": "host"}, 404)

    @host.get("/own")
    async def own() -> dict[str, str]:
        return {"of": "host"}

    host.mount("/chat", chat)
    return host


def test_a_stream_passes_the_hosts_middleware_event_by_event(tmp_path: Path) -> None:
    """The client reads the first piece before the provider sends the second, through all middleware of the host."""
    with ScriptedUpstream(_in_two_pieces, models=no_models) as upstream:
        host = _host_with_middleware(tmp_path, upstream)
        with serving_host(host) as client, client.stream("POST", STREAM, json=BODY) as response:
            assert response.headers["x-host"] == "the host's"
            chunks = response.iter_bytes()
            seen = read_until(chunks, b"one ")
            upstream.opened.set()
            assert check_stream(seen + b"".join(chunks)).text == "one two"


def test_a_client_that_leaves_stops_its_run(tmp_path: Path) -> None:
    """The disconnect passes the host's middleware, and the upstream request ends."""
    with ScriptedUpstream(_until_left, models=no_models) as upstream:
        host = _host_with_middleware(tmp_path, upstream)
        with serving_host(host) as client:
            with client.stream("POST", STREAM, json=BODY) as response:
                read_until(response.iter_bytes(), b"one ")
            assert upstream.wait_until(lambda: len(upstream.left) == 1)


def test_errors_belong_to_who_owns_the_path(tmp_path: Path) -> None:
    """Signalbox's errors keep their format, and its paths do not hide the host's routes and errors."""
    with (
        ScriptedUpstream(_until_left, models=no_models) as upstream,
        serving_host(_host_with_middleware(tmp_path, upstream)) as client,
    ):
        assert error_of(client.get("/chat/api/nope"))["code"] == "NOT_FOUND"
        assert error_of(client.post(STREAM, json={}))["code"] == "INVALID_REQUEST"
        for path, status in (("/own", 200), ("/nope", 404), ("/api/models", 404)):
            response = client.get(path)
            assert (response.status_code, response.json()) == (status, {"of": "host"})
            assert "content-security-policy" not in response.headers


def test_access_rules_hold_under_the_prefix(tmp_path: Path) -> None:
    """Without a token, only public paths respond, and the host's name must be allowed."""
    chat = mounted(tmp_path, signalbox_access_token="secret-of-a-test")
    host = host_of(chat)
    host.mount("/chat", chat)
    with serving_host(host) as client:
        for path, status in (("/health/live", 200), ("/openapi.json", 200), ("/api/runs", 401), ("/nope", 401)):
            assert client.get(f"/chat{path}").status_code == status
        assert client.post(STREAM, json=BODY).status_code == 401
        assert client.get("/chat/api/runs", headers={"authorization": "Bearer secret-of-a-test"}).status_code == 200
        assert client.get("/chat/health/live", headers={"host": "shop.example"}).status_code == 403
        assert client.post(STREAM, json=BODY, headers={"origin": "https://evil.example"}).status_code == 403


@pytest.mark.anyio
@pytest.mark.parametrize(("key", "count"), [(None, 1), ("sk-of-a-test", 0)])
async def test_simulated_answers_are_logged(tmp_path: Path, key: str | None, count: int) -> None:
    """An app in production that lacks its key answers nonsense: one warning says so."""
    chat = mounted(tmp_path, openrouter_api_key=key)
    with capture_logs() as logs:
        async with chat.lifespan():
            pass
    found = [one for one in logs if one["event"] == "upstream.simulated"]
    assert len(found) == count
    assert all(one["log_level"] == "warning" and "OPENROUTER_API_KEY is not set" in one["reason"] for one in found)


_PROGRAM = """
import asyncio, logging
from signalbox.app import Settings, signalbox_app
logging.basicConfig(format="%(name)s %(levelname)s %(message)s", level=logging.INFO)
server = logging.getLogger("uvicorn.error")
server.setLevel(logging.INFO)

async def main():
    async with signalbox_app(Settings(signalbox_access_token="secret-of-a-test")).lifespan():
        import structlog
        structlog.get_logger().warning("tested", key="secret-of-a-test", of="signalbox")
        assert server.isEnabledFor(logging.INFO), "the level of the server's logger has changed"

asyncio.run(main())
"""


def test_logs_go_to_the_hosts_logging(tmp_path: Path) -> None:
    """Lines are records of the logger `signalbox`, without secrets; other loggers and standard output are unchanged."""
    finished = subprocess.run(
        [sys.executable, "-c", _PROGRAM], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert (finished.returncode, finished.stdout) == (0, ""), finished.stderr
    for event in ("tested", "upstream.simulated"):
        (line,) = (line for line in finished.stderr.splitlines() if event in line)
        assert line.startswith(f"signalbox {logging.getLevelName(logging.WARNING)} {{")
    assert "secret-of-a-test" not in finished.stderr


_DOCUMENTED = """
import asyncio
from signalbox.app import Settings, signalbox_app

async def main():
    async with signalbox_app(Settings()).lifespan():
        import structlog
        structlog.get_logger().info("tested", of="signalbox")

asyncio.run(main())
"""


def test_the_documented_logging_shows_runs_with_their_time_and_level(tmp_path: Path) -> None:
    """The lines of runs have the level info, which Python does not print by default."""
    [snippet] = re.findall(r"```python\n(import logging\n.*?)```", (ROOT / "docs/embedding.md").read_text(), re.DOTALL)
    for code, form in (
        (snippet, r'\d{4}-\d\d-\d\d [\d:,]+ INFO signalbox {"of":"signalbox","event":"tested"}'),
        ("", None),
    ):
        told = subprocess.run(
            [sys.executable, "-c", code + _DOCUMENTED],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        found = [line for line in told.stderr.splitlines() if "tested" in line]
        assert len(found) == (0 if form is None else 1)
        assert form is None or re.fullmatch(form, found[0])


_BOTH = """
import structlog
from signalbox.app.config import Settings
from signalbox.app.main import create_app
from signalbox.app import signalbox_app
for make in (signalbox_app, create_app, signalbox_app):
    make(Settings())
    structlog.get_logger().warning("tested")
"""


def test_logs_after_a_server_in_the_same_process(tmp_path: Path) -> None:
    """Tests of hosts may make both. Each line is written once, and no handler sends it back to its source."""
    finished = subprocess.run(
        [sys.executable, "-c", _BOTH], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert (finished.returncode, finished.stderr.count('"tested"')) == (0, 3), finished.stderr
