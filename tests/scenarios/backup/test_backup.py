"""`signalbox backup` and `signalbox restore`, as documented in docs/operating.md, with and without a running server."""

import re
import sqlite3
import stat
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from shutil import copytree

import pytest

from tests.conftest import ROOT
from tests.project.docs.pages import page
from tests.support.processes import WAIT, Process, command, command_here, serving
from tests.support.stream_reader import check_stream

ASK = {"model": "openai/sim", "prompt": "What is 17 * 23?"}
OVERRIDE = "/api/flags/tool_loop_v2"


def backed_up(cwd: Path, *target: str, **env: str) -> Path:
    """Make a backup; return the file whose name was printed."""
    ended = command_here("backup", *target, cwd=cwd, env=env)
    assert ended.returncode == 0, ended.stderr.decode()
    file = cwd / ended.stdout.decode().strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    return file


def restored(cwd: Path, file: Path, status: int = 0, env: Mapping[str, str] | None = None) -> str:
    """Restore a backup; return the output."""
    ended = command_here("restore", str(file), cwd=cwd, env=env)
    assert ended.returncode == status, ended.stderr.decode()
    return (ended.stdout or ended.stderr).decode()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder that a server has used."""
    folder = tmp_path_factory.mktemp("served")
    with serving(folder):
        pass
    return folder


@pytest.fixture
def stopped(served: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder for one test."""
    return copytree(served, tmp_path, dirs_exist_ok=True)


def operator(process: Process, folder: Path) -> dict[str, str]:
    """Return the operator's header, whose token is in the data folder."""
    return {"authorization": f"Bearer {(folder / 'data' / 'admin-token').read_text().strip()}"}


def test_all_that_lasts_comes_back(tmp_path: Path) -> None:
    """Runs, notes, files, the flag override and the operator token are restored into an empty folder."""
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    with serving(there) as process, process.client() as client:
        run = client.post("/api/chat/stream", json=ASK)
        assert check_stream(run.content).done["status"] == "complete"
        pulled = client.put(OVERRIDE, json={"state": "on"}, headers=operator(process, there))
        assert pulled.status_code == 200
        note = there / "data" / "notes" / "of mine" / "idea.md"
        note.parent.mkdir(parents=True)
        note.write_text("Remember.")
        client.post("/api/chat", json={**ASK, "conversation_id": "shop"})
        assert client.put("/api/conversations/shop/files/index.html", content=b"<p>").status_code == 200
        file = backed_up(there)
        client.put("/api/conversations/shop/files/index.html", content=b"<b>")
        later = client.post("/api/chat/stream", json=ASK).headers["x-run-id"]
    restored(here, file)
    assert (here / "data" / "notes" / "of mine" / "idea.md").read_text() == "Remember."
    assert (here / "data" / "admin-token").read_text() == (there / "data" / "admin-token").read_text()
    files = [path for path in (here / "data").rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in files if path.name != "lock"} == {0}
    with serving(here) as process, process.client() as client:
        assert client.get(f"/api/runs/{run.headers['x-run-id']}/events").content == run.content
        assert client.get(f"/api/runs/{later}").status_code == 404
        assert client.get("/api/conversations/shop/files/index.html").text == "<p>"
        assert client.get(OVERRIDE).json()["state"] == "on"


def test_a_backup_can_be_made_again_and_again(tmp_path: Path) -> None:
    """A backup into a folder gets a new name; a named file is replaced; no other files remain."""
    (tmp_path / "kept").mkdir()
    with serving(tmp_path):
        first = backed_up(tmp_path, "kept")
        backed_up(tmp_path, "kept")
        assert re.fullmatch(r"signalbox-backup-\d{8}-\d{6}Z\.tar", first.name)
        (tmp_path / "mine.tar").write_text("of yesterday")
        mine = backed_up(tmp_path, "mine.tar")
        backed_up(tmp_path, "mine.tar")
    with tarfile.open(mine) as tar:
        assert {"signalbox.db", "admin-token"} <= set(tar.getnames())
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_restore_keeps_what_was_there(stopped: Path) -> None:
    """A restore moves the replaced files aside, with the database's log, and they can be put back."""
    file = backed_up(stopped)
    with serving(stopped) as process, process.client() as client:
        later = client.post("/api/chat/stream", json=ASK).headers["x-run-id"]
        note = stopped / "data" / "notes" / "late.md"
        note.parent.mkdir(exist_ok=True)
        note.write_text("Late.")
    said = restored(stopped, file)
    [aside] = (stopped / "data").glob("before-restore-*")
    assert str(aside) in said or aside.name in said
    assert (aside / "notes" / "late.md").read_text() == "Late."
    assert not note.exists()
    with serving(aside, env={"SIGNALBOX_DATA_DIR": str(aside)}) as process, process.client() as client:
        assert client.get(f"/api/runs/{later}").status_code == 200


def test_a_restore_beside_a_server_is_refused(tmp_path: Path) -> None:
    """A restore into a folder that a server uses is rejected and changes nothing."""
    with serving(tmp_path) as process, process.client() as client:
        file = backed_up(tmp_path)
        folder = tmp_path / "data"
        said = restored(tmp_path, file, status=2)
        assert said == f"signalbox: Signalbox is running in the data folder {folder}. Stop it first.\n"
        missing = restored(tmp_path, Path("nothing.tar"), status=2)
        assert missing == "signalbox: There is no file nothing.tar.\n"
        assert client.get("/health/ready").status_code == 200
    assert not list((tmp_path / "data").glob("before-restore-*"))


def _of_a_later_version(folder: Path) -> Path:
    with closing(sqlite3.connect(folder / "signalbox.db")) as database:
        database.execute("CREATE TABLE alembic_version (version_num TEXT)")
        database.execute("INSERT INTO alembic_version VALUES ('9999')")
        database.commit()
    with tarfile.open(folder / "later.tar", "w") as tar:
        tar.add(folder / "signalbox.db", "signalbox.db")
    return folder / "later.tar"


def _with_a_stranger(folder: Path) -> Path:
    (folder / "x").write_text("x")
    with tarfile.open(folder / "evil.tar", "w") as tar:
        tar.add(folder / "x", "notes/../../x")
    return folder / "evil.tar"


def _with_a_broken_database(folder: Path) -> Path:
    (folder / "signalbox.db").write_bytes(b"no database at all" * 500)
    with tarfile.open(folder / "broken.tar", "w") as tar:
        tar.add(folder / "signalbox.db", "signalbox.db")
    return folder / "broken.tar"


def _no_archive(folder: Path) -> Path:
    (folder / "text.tar").write_text("text")
    return folder / "text.tar"


def _cut_off(folder: Path) -> Path:
    with tarfile.open(folder / "cut.tar", "w") as tar:
        (folder / "signalbox.db").write_bytes(b"x" * 100_000)
        tar.add(folder / "signalbox.db", "signalbox.db")
    (folder / "cut.tar").write_bytes((folder / "cut.tar").read_bytes()[:50_000])
    return folder / "cut.tar"


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (_of_a_later_version, "The backup was made by a later version of Signalbox."),
        (_with_a_stranger, "is not a backup of Signalbox"),
        (_with_a_broken_database, "cannot be read"),
        (_no_archive, "text.tar is not a backup of Signalbox.\n"),
        (_cut_off, "cut.tar is damaged or incomplete."),
    ],
)
def test_a_bad_archive_is_refused_first(tmp_path: Path, made: Callable[[Path], Path], sentence: str) -> None:
    """A bad archive gives an error, and the folder stays unchanged."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "admin-token").write_text("mine\n")
    assert sentence in restored(tmp_path, made(tmp_path), status=2)
    assert (data / "admin-token").read_text() == "mine\n"
    assert {path.name for path in data.iterdir()} <= {"admin-token", "lock"}


def test_without_a_database_there_is_nothing_to_back_up(tmp_path: Path) -> None:
    """A folder without a database gives an error and no empty backup."""
    ended = command_here("backup", cwd=tmp_path)
    assert ended.returncode == 2
    assert "There is no database" in ended.stderr.decode()
    assert not list(tmp_path.iterdir())


def test_an_unrelated_bad_setting_does_not_keep_from_a_backup(stopped: Path) -> None:
    """backup, restore and token work with settings that stop a start, except for a bad data folder."""
    (stopped / ".env").write_text("SEARCH_BACKEND=books\nSIGNALBOX_MAX_RUNS=ten\n")
    assert command("serve", "--port", "0", cwd=stopped).returncode == 2
    restored(stopped, backed_up(stopped))
    assert command("token", "list", cwd=stopped).returncode == 0
    (stopped / ".env").write_text("SIGNALBOX_MAX_RUNS=ten\nDATABASE_URL=mysql://here\n")
    ended = command_here("backup", cwd=stopped)
    assert (ended.returncode, b"DATABASE_URL" in ended.stderr) == (2, True)


def test_places_that_cannot_be_used_are_named(stopped: Path) -> None:
    """A missing folder or file gives an error with its name, and nothing is written."""
    there = {path.name for path in stopped.iterdir()}
    missing = stopped / "nowhere"
    ended = command_here("backup", str(missing / "x.tar"), cwd=stopped)
    sentence = f"signalbox: There is no folder {missing}. Create it, or choose another one.\n"
    assert (ended.returncode, ended.stderr.decode()) == (2, sentence)
    ended = command_here("backup", "/proc/x.tar", cwd=stopped)
    assert ended.returncode == 2
    assert re.fullmatch(r"signalbox: /proc/x\.tar cannot be read or written: [\w ]+\.\n", ended.stderr.decode())
    assert restored(stopped, missing, status=2) == f"signalbox: There is no file {missing}.\n"
    assert restored(stopped, stopped, status=2) == f"signalbox: {stopped} is not a file.\n"
    assert {path.name for path in stopped.iterdir()} == there


def test_a_damaged_database_leaves_no_backup(tmp_path: Path) -> None:
    """A damaged database gives an error, no new backup, and leaves an older one of that name unchanged."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "signalbox.db").write_bytes(b"no database at all" * 500)
    (tmp_path / "kept.tar").write_text("of yesterday")
    ended = command_here("backup", "kept.tar", cwd=tmp_path)
    assert (ended.returncode, "cannot be copied" in ended.stderr.decode()) == (2, True)
    assert (tmp_path / "kept.tar").read_text() == "of yesterday"
    assert {path.name for path in tmp_path.iterdir()} == {"data", "kept.tar"}


def test_of_postgresql_the_command_is_named(tmp_path: Path, postgres_url: str) -> None:
    """With PostgreSQL, notes and token are backed up, and the output names the pg_dump command for the rest."""
    env = {"DATABASE_URL": postgres_url}
    with serving(tmp_path, env=env):
        ended = command_here("backup", "half.tar", cwd=tmp_path, env=env)
    [dump] = re.findall(r"pg_dump .*", ended.stderr.decode())
    with tarfile.open(tmp_path / "half.tar") as tar:
        assert tar.getnames() == ["admin-token"]
    subprocess.run(["sh", "-ec", dump], cwd=tmp_path, check=True, timeout=WAIT)
    [written] = tmp_path.glob("signalbox-backup-*.dump")
    [back] = [line for line in page("deploy.md").text.splitlines() if line.startswith("pg_restore ")]
    back = re.sub(r"'.*?'", postgres_url, re.sub(r"signalbox-backup\S+", written.name, back))
    subprocess.run(["sh", "-ec", back], cwd=tmp_path, check=True, timeout=WAIT)
    restored(tmp_path, tmp_path / "half.tar", env=env)
    assert "made with PostgreSQL. Set DATABASE_URL" in restored(tmp_path, tmp_path / "half.tar", status=2)


def test_backups_are_no_files_of_the_repository() -> None:
    """Git ignores every file name that the documented commands write."""
    names = ["signalbox-backup-20261123-094500Z.tar", "signalbox-backup-20261123-094500Z.dump", "data/signalbox.db"]
    told = subprocess.run(["git", "check-ignore", *names], cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.stdout.splitlines() == names


def test_the_documented_lines_work(stopped: Path) -> None:
    """The commands of docs/operating.md work with the name of the written file."""
    [lines] = [block for block in page("operating.md").blocks("sh") if "signalbox backup" in block]
    script = re.sub(r"signalbox-backup-[\dZ-]+\.tar", "signalbox-backup-*.tar", lines)
    ended = command("backup", cwd=stopped)
    assert ended.returncode == 0
    commands = [re.sub(r"\s+#.*", "", line) for line in script.strip().splitlines()]
    assert commands[0] == "signalbox backup"
    for line in commands:
        words = line.split()[1:]
        words = [str(next(stopped.glob(word))) if "*" in word else word for word in words]
        ended = command(*[word.replace("/var/backups", str(stopped)) for word in words], cwd=stopped)
        assert ended.returncode == 0, (line, ended.stderr.decode())
