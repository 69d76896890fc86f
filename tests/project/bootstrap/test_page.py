"""When the page is installed and built."""

import os
from pathlib import Path

import pytest

from scripts import page


class RecordedPage(page.Page):
    """A page whose npm leaves the expected files and records its calls."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, folder / "node")
        self.asked: list[str] = []

    def npm(self, title: str, *arguments: str) -> None:
        self.asked.append(arguments[0])
        made = "node_modules" if arguments[0] == "install" else "dist"
        (self.folder / made).mkdir(exist_ok=True)


@pytest.fixture
def recorded(tmp_path: Path) -> RecordedPage:
    """Return a page with sources and no build."""
    folder = tmp_path / "frontend"
    (folder / "src").mkdir(parents=True)
    (folder / "package.json").write_text("{}", encoding="utf-8")
    (folder / "src/main.ts").write_text("1", encoding="utf-8")
    return RecordedPage(folder)


def test_a_second_build_does_nothing(recorded: RecordedPage) -> None:
    """The first build installs and builds, the second does nothing."""
    recorded.build()
    recorded.build()
    assert recorded.asked == ["install", "run"]


def test_a_changed_source_is_built_without_installing(recorded: RecordedPage) -> None:
    """Packages are installed only if package.json or its lock changed."""
    recorded.build()
    (recorded.folder / "src/main.ts").write_text("2", encoding="utf-8")
    recorded.build()
    assert recorded.asked == ["install", "run", "run"]


def test_a_changed_lock_is_installed_and_built(recorded: RecordedPage) -> None:
    """A changed package-lock.json is installed and the page rebuilt."""
    recorded.build()
    (recorded.folder / "package-lock.json").write_text("{}", encoding="utf-8")
    recorded.build()
    assert recorded.asked == ["install", "run", "install", "run"]


def test_a_touched_source_is_not_built(recorded: RecordedPage) -> None:
    """Modification times are ignored, since a checkout changes them."""
    recorded.build()
    os.utime(recorded.folder / "src/main.ts", (1, 1))
    recorded.build()
    assert recorded.asked == ["install", "run"]


def test_a_renamed_source_is_built(recorded: RecordedPage) -> None:
    """A renamed source rebuilds the page."""
    recorded.build()
    (recorded.folder / "src/main.ts").rename(recorded.folder / "src/other.ts")
    recorded.build()
    assert recorded.asked == ["install", "run", "run"]


def test_a_changed_file_of_the_client_is_built(tmp_path: Path) -> None:
    """The page is built again after a change in the sources that it imports from outside its folder."""
    client = tmp_path / "client/src"
    client.mkdir(parents=True)
    (tmp_path / "frontend").mkdir()
    recorded = RecordedPage(tmp_path / "frontend")
    recorded.imports = client
    recorded.build()
    (client / "index.ts").write_text("1", encoding="utf-8")
    recorded.build()
    recorded.build()
    assert recorded.asked == ["install", "run", "run"]


def test_without_a_network_npm_is_told_in_one_sentence() -> None:
    """Socket errors of npm become one sentence; other failures keep npm's output."""
    assert "cannot be reached" in page.failure("fetching", "npm error code ECONNREFUSED\n" * 40)
    assert "EINTEGRITY" in page.failure("fetching", "npm error code EINTEGRITY")
