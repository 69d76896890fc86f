"""The files of a branch as a zip archive."""

from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from signalbox.core.workspace import WorkspaceFile

# The times that the format can hold.
_FIRST, _LAST = datetime(1980, 1, 1, tzinfo=UTC), datetime(2107, 12, 31, tzinfo=UTC)


def zipped(files: Sequence[WorkspaceFile]) -> bytes:
    """Return an archive with these files, each with the time of its version in UTC."""
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for file in files:
            made = max(_FIRST, min(_LAST, datetime.fromtimestamp(file.version.created, UTC)))
            entry = ZipInfo(file.version.path, made.timetuple()[:6])
            entry.compress_type = ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, file.content)
    return out.getvalue()
