"""The program of examples/screenshot-to-page, run against the simulator."""

import runpy
from pathlib import Path

import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.conftest import ROOT
from tests.support.running_app import RunningApp

FOLDER = ROOT / "examples" / "screenshot-to-page"
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


def test_a_picture_becomes_files(
    app: RunningApp,
    simulator: BackgroundSimulator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It sends the picture with the system prompt, prints the progress, asks for changes, and saves the files."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("SIGNALBOX_TOKEN", raising=False)
    before = list(simulator.state.requests)  # the references keep the identities unique
    (tmp_path / "mockup.png").write_bytes(PNG)
    main = runpy.run_path(str(FOLDER / "screenshot_to_page.py"))["main"]
    arguments = [str(tmp_path / "mockup.png"), "--url", app.url, "--output", str(tmp_path / "page")]
    assert main([*arguments, "--then", "make the heading blue", "--then", "add a footer"]) == 0

    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert "--heading: #1d4ed8;" in page
    assert "<footer" in page
    printed = capsys.readouterr().out
    for line in ("index.html … 4 kB", "create_file: ok", "> add a footer", "edit_file: ok", "Saved to "):
        assert line in printed
    known = {id(one) for one in before}
    sent = [one.body for one in simulator.state.requests if id(one) not in known]
    first = sent[0]["messages"]
    assert first[0]["content"] == (FOLDER / "system.md").read_text(encoding="utf-8")
    assert first[1]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert sent[-1]["messages"][0] == first[0]  # the conversation keeps the system prompt


def test_the_readme_names_every_file() -> None:
    """The folder is small, and its page lists what is in it."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    files = sorted(path.name for path in FOLDER.iterdir() if path.is_file())
    assert files == ["README.md", "screenshot_to_page.py", "system.md"]
    assert all(f"`{name}`" in text for name in files[1:])
