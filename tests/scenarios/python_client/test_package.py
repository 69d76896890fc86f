"""The package `signalbox-client`: its pages run as printed, its generated half is current, its wheel is complete."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.project.docs.pages import Page
from tests.project.docs.snippets import module
from tests.support.environments import environment
from tests.support.running_app import RunningApp

CLIENT = ROOT / "clients" / "python"
PAGES = [CLIENT / "README.md", ROOT / "docs" / "clients" / "python-client.md"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_examples_run(
    app: RunningApp, path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each Python block of the README and of the page works as printed."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    blocks = Page(path, path.read_text(encoding="utf-8")).blocks("python")
    assert len(blocks) >= 3
    for block in blocks:
        module("example", block.replace("http://127.0.0.1:8000", app.url))
        printed = capsys.readouterr()
        assert "391" in printed.out or "17 * 24" in printed.out, block
        assert printed.err.count("Traceback") == 0


@pytest.mark.e2e
@pytest.mark.parametrize("resolution", ["lowest-direct", "highest"])
def test_the_lowest_and_the_newest_versions_work(app: RunningApp, tmp_path: Path, resolution: str) -> None:
    """The README's programs run in an environment with nothing but the client's dependencies."""
    python = environment(tmp_path, CLIENT / "pyproject.toml", resolution)
    program = "\n".join(Page(PAGES[0], PAGES[0].read_text(encoding="utf-8")).blocks("python"))
    variables = {"PYTHONPATH": str(CLIENT), "PYTHONDONTWRITEBYTECODE": "1", "NO_PROXY": "127.0.0.1"}
    command = [python, "-W", "error", "-c", program.replace("http://127.0.0.1:8000", app.url)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    assert done.stdout.count("391") >= 3


def test_the_synchronous_client_is_current() -> None:
    """`_sync` is what make_sync.py writes."""
    script = CLIENT / "make_sync.py"
    made = module("make_sync", script.read_text(encoding="utf-8").replace("__file__", repr(str(script))))
    for name, text in made.sync_files().items():
        assert (CLIENT / "signalbox_client" / "_sync" / name).read_text(encoding="utf-8") == text, name


def test_the_package_is_small_and_silent() -> None:
    """At most 1,700 lines are written by hand; no print, no logging; only httpx and the standard library."""
    sources = {path: path.read_text(encoding="utf-8") for path in (CLIENT / "signalbox_client").rglob("*.py")}
    assert sum(text.count("\n") for path, text in sources.items() if path.parent.name != "_sync") <= 1700
    assert not [path for path, text in sources.items() if "print(" in text or "logging" in text]
    script = "import sys, httpx; old = set(sys.modules); import signalbox_client; print(*(sys.modules.keys() - old))"
    done = subprocess.run([sys.executable, "-c", script], cwd=CLIENT, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded - sys.stdlib_module_names == {"signalbox_client"}
    assert done.stderr == ""


def test_the_wheel_is_complete(tmp_path: Path) -> None:
    """A wheel has all modules and the marker for type checkers, and requires only httpx."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=CLIENT, capture_output=True, check=True)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        [about] = [opened.read(name).decode() for name in names if name.endswith("METADATA")]
    modules = {str(path.relative_to(CLIENT)) for path in (CLIENT / "signalbox_client").rglob("*.py")}
    assert modules | {"signalbox_client/py.typed"} <= names
    assert [line for line in about.splitlines() if line.startswith("Requires-Dist")] == ["Requires-Dist: httpx~=0.28.0"]
