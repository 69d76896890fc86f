"""The operator token: generated or set, its file, and where it is printed."""

import shlex
import stat
import subprocess
from pathlib import Path

import pytest
from signalbox.app.config import SettingsError
from signalbox.app.operator_token import FILE, admin_token

from tests.support.processes import command, serving
from tests.support.running_app import settings_for

URL = "/api/flags/tool_loop_v2"


@pytest.mark.e2e
def test_a_made_token_is_kept_for_the_owner_alone_and_its_place_printed(tmp_path: Path) -> None:
    """Without a configured token one is generated: private to the owner, stable over restarts, never printed or logged.

    What a service prints lands in its log. The start prints the command that shows the token instead.
    """
    file = tmp_path / "data" / FILE
    with serving(tmp_path) as process, process.client() as client:
        kept = file.read_text().strip()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        [shows] = [line.partition("token: ")[2] for line in process.printed if "operator's token" in line]
        assert subprocess.check_output(shlex.split(shows), text=True).strip() == kept
        headers = {"authorization": f"Bearer {kept}"}
        assert client.put(URL, json={"state": "on"}, headers=headers).status_code == 200
        said = [*process.printed, process.errors()]
    with serving(tmp_path) as process:
        assert file.read_text().strip() == kept
        said += [*process.printed, process.errors()]
    assert kept not in "".join(said)


@pytest.mark.e2e
def test_a_token_that_was_set_is_printed_nowhere(tmp_path: Path) -> None:
    """A configured token is in no output, log or file."""
    with serving(tmp_path, env={"SIGNALBOX_ADMIN_TOKEN": "canary-token-77"}) as process, process.client() as client:
        headers = {"authorization": "Bearer canary-token-77"}
        assert client.put(URL, json={"state": "on"}, headers=headers).status_code == 200
        assert client.put(URL, json={"state": "on"}).status_code == 401
        said = "\n".join([*process.printed, process.errors()])
    assert "canary-token-77" not in said
    assert "flag.override_set" in said
    assert not (tmp_path / "data" / FILE).exists()


@pytest.mark.parametrize("content", ["", "kept-token\n"])
def test_a_token_file_that_others_can_read_is_closed(tmp_path: Path, content: str) -> None:
    """A token file that others can read is made private again, even if it is empty."""
    file = tmp_path / FILE
    file.write_text(content)
    file.chmod(0o644)
    token = admin_token(settings_for(tmp_path), tmp_path)
    assert token.value == file.read_text().strip()
    assert token.value == (content.strip() or token.value)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"\xff\xfe", b"two words", "pässwort".encode(), b"a\x00b"])
def test_an_invalid_token_file_is_reported(tmp_path: Path, content: bytes) -> None:
    """One sentence names the file and what to do."""
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(SettingsError, match=rf"{FILE} does not contain one word"):
        admin_token(settings_for(tmp_path), tmp_path)


@pytest.mark.e2e
def test_a_token_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    """The server does not start with a token that cannot be read from the file."""
    (tmp_path / "data" / FILE).mkdir(parents=True)
    ended = command("serve", "--port", "0", cwd=tmp_path)
    assert ended.returncode == 2
    assert b"SIGNALBOX_ADMIN_TOKEN" in ended.stderr
    assert ended.stderr.count(b"\n") == 1
