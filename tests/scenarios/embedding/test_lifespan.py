"""The lifespan of a mounted Signalbox: the host runs it, and a missing one is an error that says what to do."""

import asyncio
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import httpx
import pytest
from fastapi import FastAPI
from signalbox.app import SettingsError, signalbox_app
from signalbox.core.errors import RequestError
from signalbox.runs.manager import RunManager

from tests.scenarios.embedding.hosts import host_of, mounted, serving_host
from tests.support.running_app import read_until, settings_for
from tests.support.scripted_upstream import ScriptedUpstream, holds, no_models, waits

BODY = {"model": "openai/sim", "prompt": "Hello!", "on_disconnect": "continue"}


@pytest.mark.anyio
async def test_a_forgotten_lifespan_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    """Every request raises a sentence in the host, and its client gets a 500."""
    host = FastAPI()
    host.mount("/chat", mounted(tmp_path))
    for raises, status in ((True, 0), (False, 500)):
        transport = httpx.ASGITransport(host, raise_app_exceptions=raises)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            if raises:
                with pytest.raises(RuntimeError, match=r"FastAPI\(lifespan=chat.lifespan\)"):
                    await client.get("/chat/health/live")
            else:
                assert (await client.get("/chat/health/live")).status_code == status


def test_the_lifespan_may_be_that_of_the_host(tmp_path: Path) -> None:
    """A host without a lifespan passes on that of Signalbox, and an app without a host has it as its own."""
    chat = mounted(tmp_path)
    host = FastAPI(lifespan=chat.lifespan)
    host.mount("/chat", chat)
    with serving_host(host) as client:
        assert client.get("/chat/health/ready").json()["status"] == "ready"
    with serving_host(chat) as client:
        assert client.get("/health/ready").json()["status"] == "ready"


@pytest.mark.anyio
async def test_a_lifespan_runs_once_at_a_time(tmp_path: Path) -> None:
    """A second lifespan beside the first one is an error; after the first one it starts again."""
    chat = mounted(tmp_path)
    async with chat.lifespan():
        with pytest.raises(RuntimeError, match="running already"):
            async with chat.lifespan():
                pass
    async with chat.lifespan():
        pass


@pytest.mark.anyio
async def test_two_in_one_data_folder_are_an_error(tmp_path: Path) -> None:
    """The second one in the same folder does not start, and says which setting to change."""
    async with mounted(tmp_path).lifespan():
        with pytest.raises(SettingsError, match="SIGNALBOX_DATA_DIR"):
            async with mounted(tmp_path).lifespan():
                pass


def test_the_end_of_the_lifespan_ends_runs(tmp_path: Path) -> None:
    """A run that is active after the drain is interrupted, and the next start serves all of its events."""
    with ScriptedUpstream(holds, models=no_models) as upstream:
        chat = mounted(tmp_path, openrouter_base_url=upstream.base_url, signalbox_drain_seconds=0)
        host = FastAPI(lifespan=chat.lifespan)
        host.mount("/chat", chat)
        with serving_host(host) as client, client.stream("POST", "/chat/api/chat/stream", json=BODY) as response:
            run_id = response.headers["x-run-id"]
            read_until(response.iter_raw(), b"id: ")
        with serving_host(host) as client:
            assert client.get(f"/chat/api/runs/{run_id}").json()["status"] == "interrupted"
            events = client.get(f"/chat/api/runs/{run_id}/events").text
            assert events.count('"type":"done"') == 1


def test_active_runs_finish_within_the_grace_period(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run without its client goes on while the lifespan ends, and the next start has its whole answer."""
    with ScriptedUpstream(waits, models=no_models) as upstream:
        drained: list[int] = []
        wait = RunManager.wait_until_idle

        async def wait_until_idle(runs: RunManager) -> None:
            drained.append(runs.active_count)
            with pytest.raises(RequestError, match="shutting down"):
                await runs.start(Mock(), Mock(), Mock())
            upstream.opened.set()
            await wait(runs)

        monkeypatch.setattr(RunManager, "wait_until_idle", wait_until_idle)
        chat = mounted(tmp_path, openrouter_base_url=upstream.base_url)
        host = FastAPI(lifespan=chat.lifespan)
        host.mount("/chat", chat)
        with serving_host(host) as client, client.stream("POST", "/chat/api/chat/stream", json=BODY) as response:
            run_id = response.headers["x-run-id"]
            read_until(response.iter_raw(), b"First ")
        assert drained == [1]
        with serving_host(host) as client:
            assert client.get(f"/chat/api/runs/{run_id}").json()["status"] == "complete"
            assert "second." in client.get(f"/chat/api/runs/{run_id}/events").text


@pytest.mark.anyio
async def test_the_host_keeps_its_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedded Signalbox does not change the garbage collector, memory allocation and logs of the process."""
    touched: list[str] = []
    for name in ("tune", "freeze", "configure_logs"):
        monkeypatch.setattr(f"signalbox.app.main.{name}", lambda *_, name=name, **__: touched.append(name))
    async with mounted(tmp_path).lifespan():
        assert "upkeep" not in {task.get_name() for task in asyncio.all_tasks()}
    assert touched == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"tools": [5]}, "tools[0]: expected a tool, as @tool makes one, got int"),
        ({"tools": [len]}, "tools[0]: expected a tool, as @tool makes one, got builtin_function_or_method"),
        ({"tools": len}, "tools: expected a list of tools, as @tool makes them, got builtin_function_or_method"),
        ({"owner_of": "ada"}, "owner_of: expected a function that takes a request, got str"),
        ({"settings": {"signalbox_port": 1}}, "settings: expected Settings(...), got dict"),
    ],
)
def test_wrong_arguments_fail_at_the_call(arguments: dict[str, Any], words: str) -> None:
    """The error is at the line to correct, not at the start."""
    with pytest.raises(TypeError) as raised:
        signalbox_app(**arguments)
    assert str(raised.value) == words


def test_tools_of_the_host_are_added(tmp_path: Path) -> None:
    """A tool that the host passes is one of the server's tools."""
    from signalbox import tool

    @tool
    def stock(name: str) -> int:
        """Return how many pieces are in stock."""
        return len(name)

    chat = signalbox_app(settings_for(tmp_path), tools=[stock])
    host = host_of(chat)
    host.mount("/chat", chat)
    with serving_host(host) as client:
        assert "stock" in {one["name"] for one in client.get("/chat/api/tools").json()["tools"]}
