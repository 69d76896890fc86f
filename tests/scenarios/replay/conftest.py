"""A data folder with runs and its running server, and `signalbox` commands in this process."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from signalbox.app.config import Settings
from signalbox.cli import main

from tests.support.processes import serving
from tests.support.stream_reader import check_stream

ASKED = "What time is it in Tokyo, and what is 6 * 7? Then search for pulleys"
Command = Callable[..., "CommandResult"]


@dataclass(frozen=True)
class CommandResult:
    """Exit status and output of a command."""

    status: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        assert self.status in (0, 1), self.err
        return json.loads(self.out)


@pytest.fixture
def run_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """Run `signalbox …` in a folder, with only the given settings."""
    logs = structlog.get_config()
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("SIGNALBOX_SIMULATOR_PACE", "0")

    def run(*arguments: str, cwd: Path, **env: str) -> CommandResult:
        monkeypatch.chdir(cwd)
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        status = main(arguments)
        said = capsys.readouterr()
        return CommandResult(status, said.out, said.err)

    yield run
    structlog.configure(**logs)


def ask(client: httpx.Client, prompt: str, **body: Any) -> str:
    """Send a question, read to its end, and return the run's id."""
    response = client.post("/api/chat/stream", json={"model": "openai/sim", "prompt": prompt, **body})
    assert check_stream(response.content).done["status"] == "complete"
    return response.headers["x-run-id"]


@dataclass(frozen=True)
class Folder:
    """The folder of a running server: a run, one in a conversation, a save of that one, and its file."""

    path: Path
    run: str
    second: str
    save_id: str
    save: Path


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    """Serve on the simulator: a run with tools, and the saved second question of a conversation."""
    path = tmp_path_factory.mktemp("replay")
    with serving(path, env={"TOOL_LOOP_V2": "false"}) as server, server.client() as client:
        run = ask(client, ASKED)
        ask(client, "Hello!", conversation_id="talk", system="Be kind.")
        second = ask(client, "What are pulleys?", conversation_id="talk", model="google/sim")
        save_id = client.post("/api/saves", json={"run_id": second}).json()["id"]
        save = path / "save.json"
        save.write_bytes(client.get(f"/api/saves/{save_id}").content)
        yield Folder(path, run, second, save_id, save)
