"""`signalbox token` as a process: before, while and after a server runs on the same database."""

import stat
from pathlib import Path

import httpx
import pytest
from signalbox.app.config import Settings
from signalbox.cli import main

from tests.scenarios.access.users import bearer
from tests.support.postgres import Server
from tests.support.processes import WAIT, command, serving
from tests.support.workers import within


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder and remove Signalbox's settings from the environment."""
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    return tmp_path


def token(cwd: Path, *arguments: str, status: int = 0, **env: str) -> tuple[str, str]:
    """Run the command; return its output and its error output."""
    ended = command("token", *arguments, cwd=cwd, env=env)
    assert ended.returncode == status, ended.stderr.decode()
    return ended.stdout.decode(), ended.stderr.decode()


def refusal(client: httpx.Client, text: str) -> str:
    """Send requests until a token is rejected; return the message."""
    within(WAIT, lambda: client.get("/api/runs", headers=bearer(text)).status_code != 200)
    answer = client.get("/api/runs", headers=bearer(text))
    assert answer.status_code == 401
    return answer.json()["error"]["message"]


@pytest.mark.e2e
def test_tokens_are_made_listed_and_revoked_beside_a_server(tmp_path: Path) -> None:
    """Tokens can be created before a database exists; a server accepts them at once and rejects them once revoked."""
    first, told = token(tmp_path, "create", "Ada Lovelace")
    assert first.count("\n") == 1
    assert "until it is revoked" in told
    assert stat.S_IMODE((tmp_path / "data" / "signalbox.db").stat().st_mode) == 0o600
    env = {"SIGNALBOX_REQUIRE_TOKEN": "true"}
    with serving(tmp_path, "--host", "0.0.0.0", env=env) as process:
        url = process.url.replace("0.0.0.0", "127.0.0.1")
        second, _ = token(tmp_path, "create", "Bob", "--days", "1.5")
        ada, bob = first.strip(), second.strip()
        with httpx.Client(base_url=url, trust_env=False, verify=False) as client:
            assert client.get("/api/runs").status_code == 401
            for text in (ada, bob):
                assert client.get("/api/runs", headers=bearer(text)).status_code == 200
            listed, _ = token(tmp_path, "list")
            revoked, _ = token(tmp_path, "revoke", ada[3:15])
            words = refusal(client, ada)
            assert client.get("/api/runs", headers=bearer(bob)).status_code == 200
        said = "".join(process.printed) + process.errors()
    assert words.startswith("This token has been revoked.")
    assert [line.split("  ")[-1] for line in listed.splitlines()] == ["NAME", "Ada Lovelace", "Bob"]
    assert "'Ada Lovelace' was revoked" in revoked
    after, _ = token(tmp_path, "list")
    assert [line.split()[0] for line in after.splitlines()] == ["ID", ada[3:15], bob[3:15]]
    for text in (ada, bob):
        assert text not in said + listed + revoked + after
        assert text[16:] not in said + listed + revoked + after


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("create", " "), "printable characters"),
        (("create", "two\nlines"), "printable characters"),
        (("create", "Ada", "--days", "0"), "greater than 0"),
        (("create", "Ada", "--days", "nan"), "greater than 0"),
        (("revoke", "0123456789ab"), "There is no database"),
        (("list",), "There is no database"),
    ],
)
def test_what_cannot_be_done_is_said(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    """A failure gives one sentence, an exit status, and no standard output that a script could read."""
    assert main(["token", *arguments]) == 2
    printed, said = capsys.readouterr()
    assert printed == ""
    assert words in said
    assert not [*here.iterdir()]


def test_the_database_is_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each verb prints which database it used; an unknown token gives an error."""
    named = f"Database: {here / 'data' / 'signalbox.db'}\n"
    for arguments, status in ((("create", "Ada"), 0), (("list",), 0), (("revoke", "0123456789ab"), 2)):
        assert main(["token", *arguments]) == status
        said = capsys.readouterr().err
        assert said.startswith(named)
    assert "There is no token '0123456789ab'" in said


def test_tables_are_made_by_create_alone(
    here: Path, monkeypatch: pytest.MonkeyPatch, postgres: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    """`list` creates no tables in an empty PostgreSQL, and no message contains its password."""
    url = postgres.empty_database().replace("postgres@", "postgres:canary@")
    monkeypatch.setenv("DATABASE_URL", url)
    assert main(["token", "list"]) == 2
    assert "start this version of Signalbox with it once" in capsys.readouterr().err
    assert postgres.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", database=url) == [(0,)]
    assert main(["token", "create", "Ada"]) == 0
    assert main(["token", "list"]) == 0
    said = capsys.readouterr()
    assert "Ada" in said.out
    assert said.err.count("Database: 127.0.0.1") == 2
    assert "canary" not in said.err


def test_the_error_of_a_database_says_what_to_fix(
    here: Path, monkeypatch: pytest.MonkeyPatch, postgres: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error of a running server quotes that server; the error of an unreachable one suggests starting it."""
    monkeypatch.setenv("DATABASE_URL", postgres.url("nowhere"))
    assert main(["token", "create", "Ada"]) == 2
    said = capsys.readouterr().err
    assert "no database with that name. Fix that, or correct DATABASE_URL." in said
    monkeypatch.setenv("DATABASE_URL", "postgresql://someone@127.0.0.1:1/box")
    assert main(["token", "create", "Ada"]) == 2
    assert "nothing listens on that port. Check that it is running" in capsys.readouterr().err


def test_a_database_that_cannot_be_opened_is_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error names the database, and nothing is printed."""
    (here / "data").mkdir()
    (here / "data" / "signalbox.db").write_bytes(b"no database " * 1000)
    assert main(["token", "create", "Ada"]) == 2
    printed, said = capsys.readouterr()
    assert printed == ""
    assert "signalbox.db cannot be opened" in said
