"""A server in a thread: ready inside of its block, gone after it, and honest about a failed start."""

from pathlib import Path

import httpx
import pytest
from signalbox.app.config import SettingsError
from signalbox.server.background import BackgroundServer

from tests.support.running_app import settings_for


def test_it_serves_until_its_block_ends(tmp_path: Path) -> None:
    """On a free port of loopback; afterwards the port is closed."""
    with BackgroundServer(settings_for(tmp_path)) as server:
        assert server.url.startswith("http://127.0.0.1:")
        body = {"model": "openai/sim", "prompt": "Hello!", "tools": []}
        answer = httpx.post(f"{server.url}/api/chat", json=body, trust_env=False)
        assert answer.json()["status"] == "complete"
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.url}/health/live", trust_env=False)


def test_a_start_that_fails(tmp_path: Path) -> None:
    """The error says what to correct, as that of `signalbox serve` does."""
    (tmp_path / "data").write_text("")
    with (
        pytest.raises(SettingsError, match=r"The data folder .* cannot be created"),
        BackgroundServer(settings_for(tmp_path / "data")),
    ):
        raise AssertionError("it started")


def test_runs_end_with_the_server(tmp_path: Path) -> None:
    """A stream that is open at the end of the block gets the end of its run."""
    with (
        BackgroundServer(settings_for(tmp_path, signalbox_simulator_pace=0.3)) as server,
        httpx.Client(base_url=server.url, trust_env=False) as client,
    ):
        asked = client.build_request("POST", "/api/chat/stream", json={"model": "openai/sim", "prompt": "Hello!"})
        response = client.send(asked, stream=True)
        lines = response.iter_lines()
        next(lines)
        server.__exit__(None, None, None)
        assert '"status":"interrupted"' in "".join(lines)
