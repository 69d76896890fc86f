"""The data folder: one process uses it, a killed process releases it, and an unusable folder gives a clear error."""

import asyncio
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from signalbox.app.config import SettingsError
from signalbox.app.main import create_app
from signalbox.app.process.data_dir_lock import SENTENCE

from tests.support.processes import command, serving
from tests.support.running_app import read_until, settings_for
from tests.support.scripted_upstream import ScriptedUpstream, holds, says
from tests.support.stream_reader import check_stream, parse_stream

ASK = {"model": "openai/sim", "prompt": "Hello!", "tools": [], "on_disconnect": "continue"}


@pytest.mark.e2e
def test_one_process_has_the_folder(tmp_path: Path) -> None:
    """A second server is rejected without harm; after a kill, a new server takes over the folder.

    The new server ends the interrupted runs, and a client that resumes one receives this ending.
    """
    (tmp_path / "second").mkdir()
    with ScriptedUpstream(holds, says("Fine.")) as upstream:
        env = {"OPENROUTER_BASE_URL": upstream.base_url, "SIGNALBOX_DATA_DIR": str(tmp_path / "data")}
        with serving(tmp_path, env=env) as first:
            with first.client() as client, client.stream("POST", "/api/chat/stream", json=ASK) as response:
                run_id = response.headers["x-run-id"]
                seen = read_until(response.iter_raw(), b"So far")
                ended = command("serve", "--port", "0", cwd=tmp_path / "second", env=env)
                told = ended.stderr.decode()
                assert ended.returncode == 2
                assert SENTENCE in told
                assert "Traceback" not in told
                assert client.get(f"/api/runs/{run_id}").json()["status"] == "running"
            first.process.send_signal(signal.SIGKILL)
            first.end()
        with serving(tmp_path, env=env) as third, third.client() as client:
            rest = client.get(f"/api/runs/{run_id}/events", headers={"Last-Event-ID": parse_stream(seen).ids[-1]})
            whole = check_stream(seen + rest.content)
            assert (whole.text, whole.done["code"]) == ("So far", "SERVER_CRASH")
            assert check_stream(client.post("/api/chat/stream", json=ASK).content).text == "Fine."


def no_database(data: Path) -> None:
    """Put a file there that is not a database."""
    (data / "signalbox.db").write_bytes(b"my diary " * 1000)


def a_later_one(data: Path) -> None:
    """Put a database there with tables of a later version."""
    with closing(sqlite3.connect(data / "signalbox.db")) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.execute("INSERT INTO alembic_version VALUES ('9999')")
        connection.commit()


def no_lock(data: Path) -> None:
    """Make the lock file a folder, so that it cannot be opened; permissions would not stop root."""
    (data / "lock").mkdir()


def no_file(data: Path) -> None:
    """Make the database's path a folder."""
    (data / "signalbox.db").mkdir()


CASES: list[Any] = [
    pytest.param(no_database, "cannot be opened", id="no database"),
    pytest.param(a_later_one, "A later version of Signalbox has written", id="a later version's"),
    pytest.param(no_lock, "cannot be written", id="not to be written"),
    pytest.param(no_file, "cannot be opened", id="a folder"),
]


@pytest.mark.parametrize(("spoil", "sentence"), CASES)
def test_a_folder_that_cannot_be_used_stops_the_start(
    tmp_path: Path, spoil: Callable[[Path], None], sentence: str
) -> None:
    """The error names the folder and what to do, also if another server runs the app."""
    spoil(tmp_path)
    app = create_app(settings_for(tmp_path))
    sent: list[Any] = []

    async def receive() -> dict[str, str]:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message)

    async def begin() -> None:
        await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send)

    with pytest.raises(SettingsError, match=sentence):
        asyncio.run(begin())
    (failed,) = sent
    assert failed["type"] == "lifespan.startup.failed"
    assert failed["message"].startswith("signalbox: ")
    assert sentence in failed["message"]
    assert str(tmp_path) in failed["message"]
    assert "\n" not in failed["message"]


@pytest.mark.e2e
def test_the_command_says_it_in_a_sentence_too(tmp_path: Path) -> None:
    """`signalbox serve` prints the error without a traceback."""
    (tmp_path / "data").mkdir()
    no_database(tmp_path / "data")
    ended = command("serve", "--port", "0", cwd=tmp_path)
    told = [line for line in ended.stderr.decode().splitlines() if not line.startswith("{")]
    assert ended.returncode == 2
    assert told[0].startswith("signalbox: The database ")
    assert "Traceback" not in ended.stderr.decode()
    assert len(told) <= 3, told
