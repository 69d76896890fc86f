"""`signalbox doctor`: invalid and misspelt settings, advice, the report."""

import asyncio
import json
from pathlib import Path

import pytest
from signalbox.app.config import unknown_in_environment
from signalbox.commands.doctor import examination
from signalbox.commands.doctor.finding import Finding
from signalbox.commands.doctor.folder import check_folder
from signalbox.commands.doctor.installation import check_page, read_settings
from signalbox.commands.doctor.report import all_passed, as_json, as_text
from signalbox.server.serve import serve

from tests.support.doctor import examined, near
from tests.support.processes import command

KEY = "sk-or-v1-canary-of-the-doctor"


def test_invalid_settings_are_findings(tmp_path: Path) -> None:
    """Invalid settings are findings, and checks that need no settings still run."""
    (tmp_path / ".env").write_text("SIGNALBOX_PORT=many\n")
    ended = command("doctor", cwd=tmp_path)
    told = ended.stdout.decode()
    assert (ended.returncode, ended.stderr) == (1, b"")
    assert 'The setting SIGNALBOX_PORT is "many" and cannot be used: must be a whole number.' in told
    assert "To do: Correct it in .env or in the environment.\n" in told
    assert "ok    python" in told


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    """Two bad values and a typo are three findings; a key is not quoted."""
    (tmp_path / ".env").write_text(
        f"SEARCH_BACKEND=bravo\nOPENROUTER_API_KEY={KEY} {KEY}\nSIGNALBOX_PROT=8001\nSIGNALBOX_LOG_LEVEL=loud\n"
    )
    ended = command("doctor", cwd=tmp_path)
    told = " ".join(ended.stdout.decode().split())
    assert 'SEARCH_BACKEND is "bravo" and cannot be used: must be one of brave, tavily' in told
    assert "did you mean brave? To do: Correct it in .env" in told
    assert "OPENROUTER_API_KEY cannot be used: must be one word of printable ASCII." in told
    assert 'SIGNALBOX_LOG_LEVEL is "loud" and cannot be used: must be debug, info, warning or error.' in told
    assert "Did you mean SIGNALBOX_PORT?" in told
    assert "The other checks are skipped until the settings are valid." in told
    assert "canary" not in told


def test_a_password_that_makes_the_url_invalid(tmp_path: Path) -> None:
    """A slash in a password looks like a port: the finding says how to encode it, without quoting it."""
    ended = command("doctor", cwd=tmp_path, env={"DATABASE_URL": "postgresql://me:canary/x@db.example.org/box"})
    assert (ended.returncode, ended.stderr) == (1, b"")
    assert b"write / in a password as %2F" in ended.stdout
    assert b"canary" not in ended.stdout


def test_a_misspelt_setting(tmp_path: Path) -> None:
    """It is a warning, and warnings are no failure: exit status 0."""
    (tmp_path / ".env").write_text("SIGNALBOX_PROT=8001\nSIGNALBOX_PORT=0\n")
    ended = command("doctor", cwd=tmp_path)
    told = ended.stdout.decode()
    assert ended.returncode == 0, told
    assert "warn  settings     .env sets SIGNALBOX_PROT, which is not a setting. Did you mean SIGNALBOX_PORT?" in told
    assert "To do: Rename it to SIGNALBOX_PORT." in told
    assert told.rstrip().endswith(" 0 fail.")


def test_a_misspelt_setting_in_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A typo in the environment is a warning; a name that resembles no setting is a note."""
    monkeypatch.chdir(tmp_path)
    for name in unknown_in_environment():  # where the recordings are, for one
        monkeypatch.delenv(name)
    assert "contain no unknown settings" in read_settings()[1][0].found
    monkeypatch.setenv("SIGNALBOX_MAX_RUN", "5")
    monkeypatch.setenv("OPENROUTER_ELSEWHERE", "x")
    typo, other = read_settings()[1]
    assert (typo.state, typo.todo) == ("warn", "Rename it to SIGNALBOX_MAX_RUNS.")
    assert typo.found.startswith("The environment sets SIGNALBOX_MAX_RUN, which is not a setting.")
    assert (other.state, other.todo) == ("ok", "")
    assert other.found == "The environment sets OPENROUTER_ELSEWHERE, which is not a setting and is ignored."


@pytest.mark.parametrize("is_repository", [True, False])
def test_advice_fits_the_installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_repository: bool) -> None:
    """For a package, advice names neither .env.example nor ./just."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("signalbox.app.installation.is_repository", lambda: is_repository)
    monkeypatch.setattr("signalbox.commands.doctor.installation.page_folder", lambda: None)
    (tmp_path / ".env").write_text("SIGNALBOX_ELSE=1\n")
    told = " ".join(one.todo for one in [check_page(), *read_settings()[1]])
    assert (".env.example" in told, "./just" in told) == (is_repository, is_repository)
    assert ("/guide/settings.md" in told, "pip install" in told) == (not is_repository, not is_repository)


def test_host_and_port_are_those_of_serve(tmp_path: Path, silent: int) -> None:
    """The doctor accepts the host and port options of `serve`."""
    ended = command("doctor", "--host", "127.0.0.2", "--port", "0", cwd=tmp_path, env={"SIGNALBOX_PORT": str(silent)})
    assert (ended.returncode, b"127.0.0.2: any free port will be used" in ended.stdout) == (0, True)


@pytest.mark.parametrize("place", ["signalbox_data_dir", "signalbox_notes_dir"])
def test_a_folder_that_cannot_be_created(tmp_path: Path, place: str) -> None:
    """The data folder and the configured notes folder are both reported."""
    about = {"signalbox_data_dir": "data folder", "signalbox_notes_dir": "notes"}[place]
    settings = near(tmp_path).model_copy(update={place: Path("/proc/here/data")})
    assert {one.about for one in check_folder(settings) if one.state == "fail"} == {about}
    (tmp_path / "file").write_text("x")
    settings = near(tmp_path).model_copy(update={place: tmp_path / "file" / "data"})
    assert {one.about for one in check_folder(settings) if one.state == "fail"} == {about}


def test_what_prevents_a_start_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several workers on SQLite and an invalid token file are failures; nothing is changed."""
    monkeypatch.setenv("WEB_CONCURRENCY", "4")
    kept = tmp_path / "admin-token"
    kept.mkdir()
    found = examined(near(tmp_path))
    assert (found["workers"].state, "one worker on SQLite" in found["workers"].found) == ("fail", True)
    assert (found["tokens"].state, "Is a directory" in found["tokens"].found) == ("fail", True)
    monkeypatch.setenv("WEB_CONCURRENCY", "1")
    kept.rmdir()
    kept.write_text("two words")
    kept.chmod(0o640)
    found = examined(near(tmp_path))
    assert "workers" not in found
    assert "does not contain one word" in found["tokens"].found
    assert kept.stat().st_mode & 0o777 == 0o640
    assert "tokens" not in examined(near(tmp_path, signalbox_admin_token="x" * 20))


@pytest.mark.parametrize(("host", "port"), [("a..b", 8000), ("a" * 300, 0)])
def test_an_invalid_host_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], host: str, port: int
) -> None:
    """The doctor reports the same sentence as a start."""
    found = asyncio.run(examination.check_port(near(tmp_path, signalbox_host=host, signalbox_port=port)))
    assert [(one.state, one.found) for one in found] == [("fail", f"{host} is not a valid host name.")]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIGNALBOX_ACCESS_TOKEN", "x" * 20)
    assert serve(host, port) == 2
    assert f"signalbox: {found[0].found}" in capsys.readouterr().err


def test_the_report() -> None:
    """Names are in one column, advice is below its finding, and only a failure sets the exit status."""
    found = [Finding("key", "ok", "Fine."), Finding("data folder", "warn", "Hm.", "Look.")]
    assert as_text(found) == (
        "ok    key          Fine.\nwarn  data folder  Hm.\n                   To do: Look.\n\n1 ok, 1 warn, 0 fail.\n"
    )
    assert json.loads(as_json(found))["checks"][1] == {
        "about": "data folder",
        "state": "warn",
        "found": "Hm.",
        "todo": "Look.",
    }
    assert as_text([Finding("key", "ok", "One\nline.")]).startswith("ok    key  One line.\n")
    assert all_passed(found)
    assert not all_passed([*found, Finding("port", "fail", "Taken.", "Choose.")])
