"""Retention: old data is removed from the file itself; recent, unfinished and saved data stays."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from signalbox.runs.retention import DAY

from tests.support.running_app import WAIT, RunningApp, settings_for
from tests.support.scripted_upstream import Exchange, Script, ScriptedUpstream

OLD, NEW, SAVED = "Zwiebelkuchen", "Pflaumenmus", "Griessnocken"


async def echoes(exchange: Exchange) -> None:
    """Repeat the question and end; for a question to hold, repeat it and then send nothing."""
    words = exchange.asked.body["messages"][-1]["content"]
    await exchange.head()
    await exchange.send_text(f"You said {words}.")
    await (exchange.client_left() if "hold" in words else exchange.end())


@contextmanager
def kept(data: Path, script: Script = echoes, **settings: Any) -> Iterator[RunningApp]:
    """Run an app on a data folder that remains."""
    with ScriptedUpstream(script) as upstream:
        made = settings_for(data, openrouter_base_url=upstream.base_url, **settings)
        with RunningApp(made) as app:
            yield app


def age(data: Path, days: float, words: str) -> None:
    """Make all rows that contain this text some days older."""
    seconds, like = days * DAY, f"%{words}%"
    with closing(sqlite3.connect(data / "signalbox.db")) as connection, connection:
        told = "SELECT run_id FROM journal WHERE CAST(frames AS TEXT) LIKE ?"
        of = f"UPDATE runs SET started = started - ?, ended = ended - ? WHERE id IN ({told})"
        connection.execute(of, (seconds, seconds, like))
        talked = "SELECT conversation_id FROM messages WHERE text LIKE ?"
        connection.execute(f"UPDATE conversations SET updated = updated - ? WHERE id IN ({talked})", (seconds, like))


def in_files(data: Path, words: str) -> bool:
    """Return whether text is in the bytes of the database or its log."""
    return any(words.encode() in file.read_bytes() for file in data.glob("signalbox.db*"))


def until(holds: Callable[[], bool]) -> None:
    """Poll until a condition holds."""
    deadline = time.monotonic() + WAIT
    while not holds():
        assert time.monotonic() < deadline, "it did not come to pass"


def ids(app: RunningApp, what: str) -> set[str]:
    """Return the ids of a list."""
    return {one["id"] if "id" in one else one["run_id"] for one in app.client.get(f"/api/{what}").json()[what]}


def test_what_is_old_is_gone_from_the_file(tmp_path: Path) -> None:
    """Old runs and conversations are deleted at the next start, and no byte of their text remains in the file."""
    with kept(tmp_path) as app:
        app.ask(OLD, tools=[])
        app.ask(NEW, tools=[])
        app.ask(f"{OLD} too", conversation_id="old")
        app.ask(f"{NEW} too", conversation_id="new")
        saved = app.post(prompt=SAVED, tools=[]).headers["x-run-id"]
        app.client.post("/api/saves", json={"run_id": saved})
    age(tmp_path, 10, OLD)
    age(tmp_path, 10, SAVED)
    assert in_files(tmp_path, OLD)
    with kept(tmp_path) as app:  # without the setting nothing is deleted
        assert len(ids(app, "runs")) == 5
        assert ids(app, "conversations") == {"old", "new"}
    with kept(tmp_path, signalbox_retention_days=9) as app:
        until(lambda: not in_files(tmp_path, OLD))
        assert len(ids(app, "runs")) == 2
        assert ids(app, "conversations") == {"new"}
        assert app.client.get("/api/conversations/old").status_code == 404
        assert len(app.client.get("/api/saves").json()["saves"]) == 1
    assert not in_files(tmp_path, OLD)
    assert in_files(tmp_path, NEW)
    assert in_files(tmp_path, SAVED)


def test_what_is_young_stays(tmp_path: Path) -> None:
    """Data that is a day younger than the limit stays."""
    with kept(tmp_path) as app:
        app.ask(NEW, tools=[])
        app.ask(OLD, conversation_id="old")
    age(tmp_path, 8, NEW)
    age(tmp_path, 10, OLD)
    with kept(tmp_path, signalbox_retention_days=9) as app:
        until(lambda: not ids(app, "conversations"))
        assert len(ids(app, "runs")) == 1
