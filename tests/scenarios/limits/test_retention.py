"""Retention: what is old is gone from the file itself, what is not, is under way or was saved stays."""

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
    """Answer with the question, and end; of a question to hold, answer and stay silent."""
    words = exchange.asked.body["messages"][-1]["content"]
    await exchange.head()
    await exchange.send_text(f"You said {words}.")
    await (exchange.client_left() if "hold" in words else exchange.end())


@contextmanager
def kept(data: Path, script: Script = echoes, **settings: Any) -> Iterator[RunningApp]:
    """Run an app on a data folder that outlives it."""
    with ScriptedUpstream(script) as upstream:
        made = settings_for(data, openrouter_base_url=upstream.base_url, **settings)
        with RunningApp(made) as app:
            yield app


def age(data: Path, days: float, words: str) -> None:
    """Have all that holds these words be some days older."""
    seconds, like = days * DAY, f"%{words}%"
    with closing(sqlite3.connect(data / "signalbox.db")) as connection, connection:
        told = "SELECT run_id FROM journal WHERE CAST(frames AS TEXT) LIKE ?"
        of = f"UPDATE runs SET started = started - ?, ended = ended - ? WHERE id IN ({told})"
        connection.execute(of, (seconds, seconds, like))
        talked = "SELECT conversation_id FROM messages WHERE text LIKE ?"
        connection.execute(f"UPDATE conversations SET updated = updated - ? WHERE id IN ({talked})", (seconds, like))


def in_files(data: Path, words: str) -> bool:
    """Look for words in the bytes of the database and its log."""
    return any(words.encode() in file.read_bytes() for file in data.glob("signalbox.db*"))


def until(holds: Callable[[], bool]) -> None:
    """Ask again and again until this holds."""
    deadline = time.monotonic() + WAIT
    while not holds():
        assert time.monotonic() < deadline, "it did not come to pass"


def ids(app: RunningApp, what: str) -> set[str]:
    """List what there is."""
    return {one["id"] if "id" in one else one["run_id"] for one in app.client.get(f"/api/{what}").json()[what]}


def test_what_is_old_is_gone_from_the_file(tmp_path: Path) -> None:
    """Runs and conversations of ten days ago are forgotten at the next start, their words in no byte of the file."""
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
    with kept(tmp_path) as app:  # without the setting nothing goes
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
    """A day less than the days it is kept for is not old."""
    with kept(tmp_path) as app:
        app.ask(NEW, tools=[])
        app.ask(OLD, conversation_id="old")
    age(tmp_path, 8, NEW)
    age(tmp_path, 10, OLD)
    with kept(tmp_path, signalbox_retention_days=9) as app:
        until(lambda: not ids(app, "conversations"))
        assert len(ids(app, "runs")) == 1
