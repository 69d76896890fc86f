"""Files that several workers share in one data folder: created once by the first worker, and complete for all."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from signalbox.app.operator_token import admin_token
from signalbox.services.search.docs import DocsSearch

from tests.support.processes import environment
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
    """Run the same code in several processes that start together; return their outputs."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(folder)],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(_AT_ONCE)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    ended = [process.communicate(timeout=60) for process in started]
    assert [(process.returncode, said[1]) for process, said in zip(started, ended, strict=True)] == [
        (0, b"")
    ] * _AT_ONCE
    return [said.decode() for said, _ in ended]


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
