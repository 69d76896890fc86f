"""When .venv is reused or rebuilt, and the messages if packages cannot be downloaded."""

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def made(bootstrap: ModuleType) -> ModuleType:
    """Pretend that .venv was made and prepared for `run`."""
    Path(bootstrap.BIN).mkdir(parents=True)
    Path(bootstrap.PYTHON).symlink_to(sys.executable)
    bootstrap.write_stamp({"run": bootstrap.level_key("run")})
    return bootstrap


@pytest.fixture
def steps(made: ModuleType, monkeypatch) -> list[str]:
    """Record the slow steps instead of executing them."""
    taken: list[str] = []

    def make() -> None:
        taken.append("make")
        Path(made.BIN).mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(made, "make_environment", make)
    monkeypatch.setattr(made, "install_packages", taken.append)
    monkeypatch.setattr(made, "link_node", lambda: None)
    return taken


def test_a_second_call_does_nothing(made: ModuleType, steps: list[str]) -> None:
    """A prepared level is neither built nor installed again."""
    made.prepare("run")
    made.prepare(None)
    assert steps == []


def test_a_level_is_installed_once_and_holds_the_one_before(made: ModuleType, steps: list[str]) -> None:
    """`dev` is installed once, and `run` is prepared with it."""
    made.prepare("dev")
    made.prepare("dev")
    made.prepare("run")
    assert steps == ["dev"]


@pytest.mark.parametrize("name", ["requirements/run.txt", "pyproject.toml", "hatch_build.py"])
def test_a_changed_lock_or_project_is_installed(made: ModuleType, steps: list[str], copied: Path, name: str) -> None:
    """Changed content is installed into the same .venv."""
    with (copied / name).open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    made.prepare("run")
    assert steps == ["run"]


def test_a_touched_lock_is_not_installed(made: ModuleType, steps: list[str], copied: Path) -> None:
    """Modification times are ignored, since a checkout changes them."""
    os.utime(copied / "requirements/run.txt", (1, 1))
    made.prepare("run")
    assert steps == []


def test_changed_tools_make_it_anew(made: ModuleType, steps: list[str], copied: Path) -> None:
    """Another just or uv rebuilds the .venv."""
    with (copied / "requirements/tools.txt").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    made.prepare("run")
    assert steps == ["make", "run"]


def test_a_moved_repository_is_noticed(made: ModuleType, monkeypatch) -> None:
    """The .venv of another folder is not used, since its scripts have absolute paths."""
    assert made.is_prepared("run")
    monkeypatch.setattr(made, "ROOT", f"{made.ROOT}-moved")
    monkeypatch.setattr(made, "tools_key", lambda: made.json.loads(Path(made.STAMP).read_text())["tools"])
    assert made.read_stamp() is None


def test_a_vanished_python_is_noticed(made: ModuleType) -> None:
    """A .venv whose Python was uninstalled is rebuilt."""
    assert made.read_stamp() is not None
    Path(made.PYTHON).unlink()
    Path(made.PYTHON).symlink_to("/nonexistent/python3.11")
    assert made.read_stamp() is None


def test_an_interrupted_installation_is_begun_again(made: ModuleType, steps: list[str], monkeypatch) -> None:
    """An interruption leaves no stamp, so the next call rebuilds .venv."""

    def interrupted(level: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(made, "install_packages", interrupted)
        with pytest.raises(KeyboardInterrupt):
            made.prepare("dev")
    assert made.read_stamp() is None
    made.prepare("dev")
    assert steps == ["make", "dev"]


def test_a_refused_download_leaves_what_was_there(made: ModuleType, steps: list[str], monkeypatch) -> None:
    """Without a network, a prepared level still works."""

    def refused(level: str) -> None:
        raise made.SetupError("no network")

    monkeypatch.setattr(made, "install_packages", refused)
    with pytest.raises(made.SetupError):
        made.prepare("dev")
    made.prepare("run")
    assert steps == []


def test_two_calls_at_once_take_turns(made: ModuleType, steps: list[str], copied: Path, monkeypatch) -> None:
    """The second call reports that it waits, then finds the work done."""
    import fcntl

    waiting = threading.Event()
    monkeypatch.setattr(made, "print_line", lambda text: waiting.set() if "waiting" in text else None)
    with (copied / ".venv.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        second = threading.Thread(target=made.prepare, args=("dev",))
        second.start()
        assert waiting.wait(20)
        made.write_stamp({name: made.level_key(name) for name in made.LEVELS})
    second.join(20)
    assert not second.is_alive()
    assert steps == []


def test_pip_settings_are_read_as_pip_ranks_them(bootstrap: ModuleType) -> None:
    """The environment overrides `install`, which overrides `global`; a list over several lines is joined."""
    listing = (
        ":env:.cert='/c.pem'\n"
        "global.extra-index-url='https://a.invalid/simple\\nhttps://b.invalid/simple'\n"
        "install.index-url='https://high.invalid/simple'\n"
        "global.index-url='https://low.invalid/simple'\n"
    )
    assert bootstrap.pip_settings(listing) == {
        "cert": "/c.pem",
        "extra-index-url": "https://a.invalid/simple https://b.invalid/simple",
        "index-url": "https://high.invalid/simple",
    }


@pytest.fixture
def _plain(monkeypatch, tmp_path: Path) -> None:
    """Remove every index that this machine is configured for."""
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


@pytest.mark.usefixtures("_plain")
def test_uv_is_given_the_index_of_pip(bootstrap: ModuleType, monkeypatch) -> None:
    """By default, uv uses pip's configured index."""
    monkeypatch.setattr(bootstrap, "has_uv_configuration", lambda: False)
    pip = [sys.executable, "-c", "print(\"global.index-url='https://mirror.invalid/simple'\")"]
    assert bootstrap.uv_environment(pip)["UV_DEFAULT_INDEX"] == "https://mirror.invalid/simple"
    monkeypatch.setenv("UV_INDEX_URL", "https://own.invalid/simple")
    assert "UV_DEFAULT_INDEX" not in bootstrap.uv_environment(pip)


@pytest.mark.usefixtures("_plain")
def test_without_a_network_it_says_so_in_one_sentence(copied: Path, monkeypatch) -> None:
    """Without a reachable index, the error is one sentence without a traceback."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound, never listening: every connection is refused
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{closed.getsockname()[1]}/simple")
        monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
        command = [sys.executable, str(copied / "just"), "start"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: Could not fetch just and uv: the package index cannot be reached.")
    assert "Traceback" not in done.stderr


def test_another_failure_shows_the_installers_words(bootstrap: ModuleType) -> None:
    """Other failures show the installer's last lines."""
    sentence = bootstrap.fetch_failure("the Python packages", "one\nTHESE PACKAGES DO NOT MATCH THE HASHES\n")
    assert "DO NOT MATCH THE HASHES" in sentence
    assert "cannot be reached" not in sentence
