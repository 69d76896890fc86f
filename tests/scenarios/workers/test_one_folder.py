"""Files that several workers share in one data folder: created once by the first worker, and complete for all."""

import os
import sqlite3
import subprocess
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import pytest
from signalbox.app.operator_token import admin_token
from signalbox.services.search.docs import DocsSearch

from tests.support.fork_server import Forked
from tests.support.processes import start
from tests.support.running_app import settings_for

_AT_ONCE = 4

_TOKEN = """
import sys
from pathlib import Path
from signalbox.app.operator_token import admin_token
from signalbox.app.config import Settings
folder = Path(sys.argv[1])
sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin.readline()
print(admin_token(Settings(_env_file=None), folder).value)
"""

_INDEX = """
import asyncio, sys
from pathlib import Path
from signalbox.core.tools import SearchQuery
from signalbox.services.search.docs import DocsSearch
folder = Path(sys.argv[1])
sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin.readline()
search = DocsSearch(folder / "docs", folder / "index.sqlite")
asyncio.run(search.prepare())
hits = asyncio.run(search.search(SearchQuery("bamboo", 50)))
print(search.about, len(hits))
search.close()
"""


def at_once(code: str, folder: Path) -> list[str]:
    """Run the same code in several processes that start together; return their outputs.

    All read the same pipe. When it closes, none of them waits any longer.
    """
    waiting, gate = os.pipe()
    with ExitStack() as files, os.fdopen(waiting, "rb") as stdin, TemporaryFile() as errors:
        outputs: list[IO[bytes]] = []
        started: list[subprocess.Popen[bytes] | Forked] = []
        with os.fdopen(gate, "wb"):
            for _ in range(_AT_ONCE):
                read, write = os.pipe()
                outputs.append(files.enter_context(os.fdopen(read, "rb")))
                with os.fdopen(write, "wb") as stdout:
                    started.append(start(["-c", code, str(folder)], folder, {}, stdin, stdout, errors))
            assert [output.readline() for output in outputs] == [b"ready\n"] * _AT_ONCE
        said = [output.read().decode() for output in outputs]
        statuses = [process.wait(60) for process in started]
        errors.seek(0)
        assert (statuses, errors.read()) == ([0] * _AT_ONCE, b"")
    return said


@pytest.mark.parametrize("before", [None, "", "  \n"])
def test_one_operators_token_is_made(tmp_path: Path, before: str | None) -> None:
    """Workers that start together on a fresh folder, or an empty file, use the same stored token."""
    if before is not None:
        (tmp_path / "admin-token").write_text(before)
    said = at_once(_TOKEN, tmp_path)
    assert len(set(said)) == 1
    assert (tmp_path / "admin-token").read_text() == said[0]


def test_a_token_that_another_worker_has_just_made_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After waiting for the file, a worker reads it again before creating a token."""
    file = tmp_path / "admin-token"
    monkeypatch.setattr("signalbox.app.operator_token.fcntl.flock", lambda *_: file.write_text("theirs\n"))
    assert admin_token(settings_for(tmp_path), tmp_path).value == "theirs"
    assert file.read_text() == "theirs\n"


def test_an_index_is_opened_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock is taken before SQLite opens the file, since SQLite would not wait for its creator."""
    (tmp_path / "docs").mkdir()
    was_there: list[bool] = []
    file = tmp_path / "index.sqlite"
    monkeypatch.setattr("signalbox.services.search.docs_index.fcntl.flock", lambda *_: was_there.append(file.exists()))
    DocsSearch(tmp_path / "docs", file).close()
    assert (was_there, file.exists()) == ([False], True)


@pytest.mark.parametrize("before", [None, b"no index " * 1000])
def test_one_index_serves_all(tmp_path: Path, before: bytes | None) -> None:
    """Workers that index the same folder together find the same, and each page is indexed once."""
    (tmp_path / "docs").mkdir()
    for number in range(450):
        (tmp_path / "docs" / f"page-{number}.md").write_text(f"# Page {number}\n\nOf bamboo.\n\n## More\n\nOf it.\n")
    if before is not None:
        (tmp_path / "index.sqlite").write_bytes(before)
    said = at_once(_INDEX, tmp_path)
    assert len(set(said)) == 1
    assert "450 pages" in said[0]
    with sqlite3.connect(tmp_path / "index.sqlite") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*), count(DISTINCT path) FROM pages").fetchall() == [(450, 450)]
        assert connection.execute("SELECT count(*) FROM sections").fetchall() == [(900,)]
    connection.close()
