"""The override file: atomic writes, seen at once by every process; an invalid file counts as off."""

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
    """Return the path of the override file."""
    return tmp_path / "override.json"


def test_an_override_that_was_never_set_is_none(path: Path) -> None:
    """Without a file the environment decides, and reading creates no file."""
    assert OverrideFile(path).current() is None
    assert not path.exists()


@pytest.mark.parametrize("override", [OFF, ON, HALF, Override("percent", 0), Override("percent", 100)])
def test_an_override_is_stored(path: Path, override: Override) -> None:
    """The process that wrote it and the next process read the same value."""
    file = OverrideFile(path)
    file.write(override)
    assert file.current() == OverrideFile(path).current() == override
    assert list(path.parent.iterdir()) == [path]


def test_the_percentage_is_written_only_if_it_counts(path: Path) -> None:
    """A percentage is stored only in state `percent`."""
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
def test_an_invalid_file_counts_as_off(path: Path, content: bytes) -> None:
    """A typing error never leaves a run on V2; the next valid value counts again."""
    file = OverrideFile(path)
    file.write(ON)
    assert file.current() == ON
    path.write_bytes(content)
    assert file.current() == OFF
    file.write(ON)
    assert file.current() == ON


def test_an_unreadable_path_counts_as_off(tmp_path: Path) -> None:
    """If the path is not a file, runs still start, on the legacy loop."""
    in_the_way = tmp_path / "data"
    in_the_way.write_text("a file where the folder was")
    assert OverrideFile(in_the_way / "override.json").current() == OFF
    folder = tmp_path / "override.json"
    folder.mkdir()
    assert OverrideFile(folder).current() == OFF


def test_an_unchanged_file_costs_one_stat(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is read again only after it has changed."""
    reads: list[Path] = []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: reads.append(self) or read_bytes(self))
    file = OverrideFile(path)
    file.write(HALF)
    assert [file.current() for _ in range(5)] == [HALF] * 5
    assert reads == [path]


def test_an_override_can_be_removed(path: Path) -> None:
    """The environment or the flag provider counts again; the file stays, so that no older one is copied again."""
    file = OverrideFile(path)
    file.write(ON)
    file.write(None)
    assert file.current() is None
    assert path.read_bytes() == b'{"state":"default"}'


def test_a_change_by_another_process_counts_at_once(path: Path) -> None:
    """An override set by another process applies to the next run."""
    file = OverrideFile(path)
    file.write(ON)
    assert file.current() == ON
    code = "import sys; from pathlib import Path; from signalbox.flags.override import *; "
    code += "OverrideFile(Path(sys.argv[1])).write(Override('off'))"
    subprocess.run([sys.executable, "-c", code, str(path)], env=environment(), check=True)
    assert file.current() == OFF


def test_edits_and_deletions_count_at_once(path: Path) -> None:
    """A file that was edited in place, and one that was deleted, count at the next read."""
    file = OverrideFile(path)
    file.write(OFF)
    assert file.current() == OFF
    path.write_text('{"state": "percent", "percent": 5}')
    assert file.current() == Override("percent", 5)
    path.unlink()
    assert file.current() is None


def test_quick_changes_are_distinguished(path: Path) -> None:
    """However fast changes follow each other, the last one is read."""
    writer, reader = OverrideFile(path), OverrideFile(path)
    for n in range(300):
        writer.write(Override("percent", n % 90 + 10))
        assert reader.current() == Override("percent", n % 90 + 10)


def test_each_change_has_its_own_timestamp(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Timestamps have nanoseconds, even if the file system would give two changes the same tick."""
    monkeypatch.setattr(override_module, "time_ns", lambda: 1_700_000_000_123_456_700)
    OverrideFile(path).write(ON)
    assert path.stat().st_mtime_ns == 1_700_000_000_123_456_700


def test_readers_never_see_a_partial_write(path: Path) -> None:
    """During concurrent writes every read returns one complete state, and the last one stays."""
    states = [OFF, ON, HALF, Override("percent", 7)]
    OverrideFile(path).write(OFF)
    over = threading.Event()

    def write_states(override: Override) -> None:
        file = OverrideFile(path)
        for _ in range(50):
            file.write(override)

    writers = [threading.Thread(target=write_states, args=[state]) for state in states]
    seen: list[Override | None] = []

    def read_states() -> None:
        while not over.is_set():
            seen.append(override_of(json.loads(path.read_bytes())))

    reader = threading.Thread(target=read_states)
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    over.set()
    reader.join()
    assert seen
    assert all(override in states for override in seen)
    assert OverrideFile(path).current() in states
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_raises_and_changes_nothing(tmp_path: Path) -> None:
    """The caller gets an OSError, the override is unchanged, and no temporary file is left."""
    file = OverrideFile(tmp_path / "gone" / "override.json")
    with pytest.raises(OSError, match="No such file"):
        file.write(ON)
    blocked = tmp_path / "blocked" / "override.json"
    (blocked / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        OverrideFile(blocked).write(ON)
    assert list(blocked.parent.iterdir()) == [blocked]


def test_the_file_is_private(path: Path) -> None:
    """Other users of the machine cannot write the file."""
    OverrideFile(path).write(ON)
    assert path.stat().st_mode & 0o077 == 0
