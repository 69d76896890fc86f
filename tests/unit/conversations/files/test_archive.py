"""The zip archive of a branch."""

from io import BytesIO
from zipfile import ZipFile

import pytest
from signalbox.conversations.files.archive import zipped
from signalbox.core.workspace import FileVersion, WorkspaceFile


@pytest.mark.parametrize(
    ("created", "year"), [(0.0, 1980), (1795832162.4, 2026), (9_000_000_000.0, 2107)], ids=["early", "now", "late"]
)
def test_entries_have_the_time_of_their_version(created: float, year: int) -> None:
    """The same files give the same archive, also with times that the format cannot hold."""
    file = WorkspaceFile(FileVersion("a/b.txt", 1, "text/plain", 4, "model", created, "n"), b"text")
    body = zipped([file])
    assert body == zipped([file])
    with ZipFile(BytesIO(body)) as archive:
        (entry,) = archive.infolist()
        assert (entry.filename, entry.date_time[0], archive.read(entry)) == ("a/b.txt", year, b"text")
