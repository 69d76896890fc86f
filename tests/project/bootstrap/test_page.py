"""When the page is installed and built, and when not."""

import os
from pathlib import Path

import pytest

from scripts import page


class RecordedPage(page.Page):
    """A page whose npm does what it would leave behind, and remembers what it was asked."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, folder / "node")
        self.asked: list[str] = []

    def npm(self, title: str, *arguments: str) -> None:
        self.asked.append(arguments[0])
        made = "node_modules" if arguments[0] == "install" else "dist"
        (self.folder / made).mkdir(exist_ok=True)


@pytest.fixture
def recorded(tmp_path: Path) -> RecordedPage:
    """Return a page with sources and nothing built."""
    folder = tmp_path / "frontend"
    (folder / "src").mkdir(parents=True)
    (folder / "package.json").write_text("{}", encoding="utf-8")
    (folder / "src/main.ts").write_text("1", encoding="utf-8")
    return RecordedPage(folder)


def test_a_second_build_does_nothing(recorded: RecordedPage) -> None:
    """The first build installs and builds, the second finds both done."""
    recorded.build()
    recorded.build()
    assert recorded.asked == ["install", "run"]


def test_a_changed_source_is_built_without_installing(recorded: RecordedPage) -> None:
    """Packages are fetched only when package.json or its lock changed."""
    recorded.build()
    (recorded.folder / "src/main.ts").write_text("2", encoding="utf-8")
    recorded.build()
    assert recorded.asked == ["install", "run", "run"]


def test_a_changed_lock_is_installed_and_built(recorded: RecordedPage) -> None:
    """A new package-lock.json means new packages and a new page."""
    recorded.build()
    (recorded.folder / "package-lock.json").write_text("{}", encoding="utf-8")
    recorded.build()
    assert recorded.asked == ["install", "run", "install", "run"]


def test_a_touched_source_is_not_built(recorded: RecordedPage) -> None:
    """A checkout touches every file; content decides."""
    recorded.build()
    os.utime(recorded.folder / "src/main.ts", (1, 1))
    recorded.build()
    assert recorded.asked == ["install", "run"]


def test_a_renamed_source_is_built(recorded: RecordedPage) -> None:
    """The names of files count too."""
    recorded.build()
    (recorded.folder / "src/main.ts").rename(recorded.folder / "src/other.ts")
    recorded.build()
    assert recorded.asked == ["install", "run", "run"]


def test_without_a_network_npm_is_told_in_one_sentence() -> None:
    """What npm says about sockets becomes one sentence; other failures keep npm's words."""
    assert "cannot be reached" in page.failure("fetching", "npm error code ECONNREFUSED\n" * 40)
    assert "EINTEGRITY" in page.failure("fetching", "npm error code EINTEGRITY")
