"""SIGNALBOX_ROOT_PATH: a reverse proxy serves Signalbox under a prefix, which it strips or passes on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from signalbox.app.asgi import root_path

from tests.project.docs.pages import page
from tests.scenarios.embedding.hosts import mounted, serving_host
from tests.support.nginx import nginx
from tests.support.running_app import RunningApp, error_of, read_until, settings_for
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, no_models
from tests.support.stream_reader import check_stream


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Serve an app behind the prefix /team/chat; the tests take the place of the proxy."""
    settings = settings_for(
        tmp_path_factory.mktemp("data"), signalbox_root_path="/team/chat", signalbox_access_token="secret-of-a-test"
    )
    with RunningApp(settings) as app:
        app.client.headers["authorization"] = "Bearer secret-of-a-test"
        yield app


@pytest.mark.parametrize("kept", ["", "/chat", "/team/chat"])
def test_a_proxy_may_strip_the_prefix_or_a_part_of_it(proxied: RunningApp, kept: str) -> None:
    """Routes, access rules and formats of errors are those of the path behind the prefix."""
    client = proxied.client
    assert client.get(f"{kept}/api/runs").status_code == 200
    assert client.get(f"{kept}/api/runs", headers={"authorization": ""}).status_code == 401
    assert client.get(f"{kept}/health/live", headers={"authorization": ""}).status_code == 200
    assert client.get(f"{kept}/openapi.json").json()["servers"] == [{"url": "/team/chat"}]
    assert client.get(f"{kept}/guide").headers["location"] == "/team/chat/guide/"
    assert error_of(client.get(f"{kept}/api/nope"))["code"] == "NOT_FOUND"
    assert "type" in client.get(f"{kept}/v1/nope").json()["error"], "OpenAI's format"
    body = {"model": "openai/sim", "prompt": "Hello!"}
    assert check_stream(client.post(f"{kept}/api/chat/stream", json=body).content).done["status"] == "complete"


def test_a_path_that_only_begins_like_the_prefix_is_another_path(proxied: RunningApp) -> None:
    """/team/chatter is not below /team/chat."""
    for path in ("/team/chatter/api/runs", "/team/api/runs", "/chats/api/runs"):
        assert proxied.client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("root", "configured", "path", "expected"),
    [
        ("", "", "/api/runs", ("", "/api/runs")),
        ("", "/chat", "/api/runs", ("/chat", "/api/runs")),
        ("", "/chat", "/chat/api/runs", ("/chat", "/api/runs")),
        ("", "/chat", "/chat", ("/chat", "")),
        ("", "/chat", "/chat/chat/x", ("/chat", "/chat/x")),
        ("/mount", "/chat", "/mount/api/runs", ("/mount", "/api/runs")),
        ("/mount/", "", "/mount/api", ("/mount", "/api")),
        ("/proxy/mount", "", "/mount/api/runs", ("/proxy/mount", "/api/runs")),
        ("/proxy/mount", "", "/proxy/mount/api/runs", ("/proxy/mount", "/api/runs")),
        ("/a//b", "", "//b/x", ("/a//b", "/x")),
    ],
)
def test_the_path_in_the_app(root: str, configured: str, path: str, expected: tuple[str, str]) -> None:
    """A mount's root comes before the setting, and the full path is restored from what is left of it."""
    scope: dict[str, Any] = {"type": "http", "path": path, "root_path": root}
    root_path.place_under(scope, configured)
    assert (scope["root_path"], root_path.path_in_app(scope)) == expected
    assert scope["path"] == "".join(expected)


def test_a_mount_behind_a_proxy_that_strips_its_prefix(tmp_path: Path) -> None:
    """The server's root path and the mount's add up, whichever of both FastAPI and uvicorn know."""
    chat = mounted(tmp_path)
    host = FastAPI(lifespan=chat.lifespan)
    host.mount("/chat", chat)
    with serving_host(host, root_path="/proxy") as client:
        assert client.get("/chat/api/runs").status_code == 200
        assert client.get("/chat/openapi.json").json()["servers"] == [{"url": "/proxy/chat"}]
        assert client.get("/chat/guide").headers["location"] == "/proxy/chat/guide/"


async def _in_two_pieces(exchange: Exchange) -> None:
    await exchange.head()
    await exchange.send_text("one ")
    await exchange.gate_opened()
    await exchange.send_text("two")
    await exchange.end()


# The locations of docs/embedding.md, without their last lines, replace the first line of that of deploy/nginx.conf.
_LOCATION = "        location / {\n"
_DOCUMENTED = [block.partition("    proxy_pass")[0] for block in page("embedding.md").blocks("nginx")]


@pytest.mark.parametrize("location", _DOCUMENTED, ids=["passed on", "stripped"])
def test_behind_nginx(tmp_path: Path, location: str) -> None:
    """Redirects, streams and repeated questions work behind nginx; other paths are nginx's."""
    with ScriptedUpstream(_in_two_pieces, models=no_models) as upstream:
        settings = settings_for(
            tmp_path / "data", openrouter_base_url=upstream.base_url, signalbox_root_path="/chat", tool_loop_v2=True
        )
        with (
            RunningApp(settings) as app,
            nginx(tmp_path / "nginx", app.port, changes={_LOCATION: location}) as front,
            front.client() as client,
        ):
            assert client.get("/chat/health/ready").json()["status"] == "ready"
            assert client.get("/chat/guide").headers["location"] == "/chat/guide/"
            assert client.get("/chat/openapi.json").json()["servers"] == [{"url": "/chat"}]
            assert client.get("/api/runs").status_code == 404
            body = {"model": "openai/sim", "prompt": "Hello!", "tools": []}
            key = {"idempotency-key": "one-question"}
            with client.stream("POST", "/chat/api/chat/stream", json=body, headers=key) as response:
                chunks = response.iter_raw()
                seen = read_until(chunks, b"one ")
                upstream.opened.set()
                assert check_stream(seen + b"".join(chunks)).text == "one two"
            assert _is_same_run(client, body, key, response)


def _is_same_run(client: httpx.Client, body: Any, key: dict[str, str], first: httpx.Response) -> bool:
    again = client.post("/chat/api/chat/stream", json=body, headers=key)
    return again.headers["x-run-id"] == first.headers["x-run-id"]
