"""The lever on disk: atomic, kept, seen at once whoever wrote it; what cannot be read counts as off."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from signalbox.flags import override as override_module
from signalbox.flags.override import Override, OverrideFile, override_of

from tests.support.processes import environment

OFF, ON, HALF = Override("off"), Override("on"), Override("percent", 50)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Say where the lever lies."""
    return tmp_path / "lever.json"


def test_a_lever_that_was_never_pulled_is_none(path: Path) -> None:
    """Without a file the environment decides, and reading makes none."""
    assert OverrideFile(path).current() is None
    assert not path.exists()


@pytest.mark.parametrize("lever", [OFF, ON, HALF, Override("percent", 0), Override("percent", 100)])
def test_a_pull_is_kept(path: Path, lever: Override) -> None:
    """What was written is read, by the one that wrote and by the next process."""
    file = OverrideFile(path)
    file.write(lever)
    assert file.current() == OverrideFile(path).current() == lever
    assert list(path.parent.iterdir()) == [path]


def test_only_what_the_state_needs_is_written(path: Path) -> None:
    """A share is kept only where it counts."""
    file = OverrideFile(path)
    file.write(HALF)
    assert json.loads(path.read_bytes()) == {"state": "percent", "percent": 50}
    file.write(ON)
    assert json.loads(path.read_bytes()) == {"state": "on"}


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"null", b"[]", b'"off"', b"on", b"{}", b"\xff\xfe", b"[" * 100_000),
        *(b'{"state":"ON"}', b'{"state":true}', b'{"state":["on"]}', b'{"state":"percent","percent":101}'),
        *(b'{"state":"percent","percent":"50"}', b'{"state":"percent","percent":true}', b'{"state":"on","percent":-1}'),
    ],
)
def test_what_cannot_be_understood_counts_as_off(path: Path, content: bytes) -> None:
    """A slip of the pen never leaves anybody on V2; the next good pull counts again."""
    file = OverrideFile(path)
    file.write(ON)
    assert file.current() == ON
    path.write_bytes(content)
    assert file.current() == OFF
    file.write(ON)
    assert file.current() == ON


def test_a_file_that_cannot_be_reached_counts_as_off(tmp_path: Path) -> None:
    """Where there is something in the way that is no file, a run still starts, on legacy."""
    in_the_way = tmp_path / "data"
    in_the_way.write_text("a file where the folder was")
    assert OverrideFile(in_the_way / "lever.json").current() == OFF
    folder = tmp_path / "lever.json"
    folder.mkdir()
    assert OverrideFile(folder).current() == OFF


def test_an_unchanged_lever_costs_one_stat(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is read again only when it has changed."""
    reads: list[Path] = []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: reads.append(self) or read_bytes(self))
    file = OverrideFile(path)
    file.write(HALF)
    assert [file.current() for _ in range(5)] == [HALF] * 5
    assert reads == [path]


def test_another_process_is_heard_at_the_next_read(path: Path) -> None:
    """A pull by another process counts from the very next run on."""
    file = OverrideFile(path)
    file.write(ON)
    assert file.current() == ON
    code = "import sys; from pathlib import Path; from signalbox.flags.override import *; "
    code += "OverrideFile(Path(sys.argv[1])).write(Override('off'))"
    subprocess.run([sys.executable, "-c", code, str(path)], env=environment(), check=True)
    assert file.current() == OFF


def test_an_editor_is_heard_too(path: Path) -> None:
    """A file that was written in place, and one that was taken away, count at the next read."""
    file = OverrideFile(path)
    file.write(OFF)
    assert file.current() == OFF
    path.write_text('{"state": "percent", "percent": 5}')
    assert file.current() == Override("percent", 5)
    path.unlink()
    assert file.current() is None


def test_quick_pulls_are_never_mistaken_for_each_other(path: Path) -> None:
    """However fast they follow each other, the last one is read."""
    writer, reader = OverrideFile(path), OverrideFile(path)
    for n in range(300):
        writer.write(Override("percent", n % 90 + 10))
        assert reader.current() == Override("percent", n % 90 + 10)


def test_a_pull_bears_its_own_time(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the nanosecond, where a file system would give two pulls within one tick of its clock the same."""
    monkeypatch.setattr(override_module, "time_ns", lambda: 1_700_000_000_123_456_700)
    OverrideFile(path).write(ON)
    assert path.stat().st_mtime_ns == 1_700_000_000_123_456_700


def test_readers_never_see_half_a_pull(path: Path) -> None:
    """While several write at once every read finds one of the states whole, and the last one stays."""
    states = [OFF, ON, HALF, Override("percent", 7)]
    OverrideFile(path).write(OFF)
    over = threading.Event()

    def pull(lever: Override) -> None:
        file = OverrideFile(path)
        for _ in range(50):
            file.write(lever)

    writers = [threading.Thread(target=pull, args=[state]) for state in states]
    seen: list[Override | None] = []

    def watch() -> None:
        while not over.is_set():
            seen.append(override_of(json.loads(path.read_bytes())))

    watcher = threading.Thread(target=watch)
    for thread in (watcher, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    over.set()
    watcher.join()
    assert seen
    assert all(lever in states for lever in seen)
    assert OverrideFile(path).current() in states
    assert list(path.parent.iterdir()) == [path]


def test_a_pull_that_fails_is_told_and_changes_nothing(tmp_path: Path) -> None:
    """Whoever pulls hears of it, the lever stands as it stood, and nothing is left lying about."""
    file = OverrideFile(tmp_path / "gone" / "lever.json")
    with pytest.raises(OSError, match="No such file"):
        file.write(ON)
    blocked = tmp_path / "blocked" / "lever.json"
    (blocked / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        OverrideFile(blocked).write(ON)
    assert list(blocked.parent.iterdir()) == [blocked]


def test_the_file_is_the_owners_alone(path: Path) -> None:
    """Nobody else on the machine can pull it."""
    OverrideFile(path).write(ON)
    assert path.stat().st_mode & 0o077 == 0
