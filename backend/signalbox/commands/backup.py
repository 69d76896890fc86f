"""`signalbox backup` and `signalbox restore`: all stored data in one file."""

import os
import shutil
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from signalbox.app.config import DATA_SETTINGS, Settings, SettingsError, load_settings
from signalbox.app.database_setup import FILE as DATABASE_FILE
from signalbox.app.database_setup import location_of
from signalbox.app.folders import data_folder, notes_folder
from signalbox.app.operator_token import FILE as ADMIN_FILE
from signalbox.app.process.data_dir_lock import FolderInUse, hold_data_folder
from signalbox.app.shared_settings import OVERRIDE_FILE
from signalbox.core.errors import StoreError
from signalbox.store.engines.sqlite_check import inspect_file, is_known
from signalbox.store.engines.sqlite_copy import copy_file

_NOTES = "notes"
_FILES = (DATABASE_FILE, ADMIN_FILE, OVERRIDE_FILE)
_SECONDS = 600.0
_WRITING, _RESTORING = ".signalbox-backup-", ".restore-"


def backup(target: Path) -> int:
    """Write a backup to a file, or into a folder under a name with the time; return the exit status."""
    file = target / f"signalbox-backup-{_now()}.tar" if target.is_dir() else target
    try:
        settings = load_settings(only=DATA_SETTINGS)
        _write(settings, file)
    except OSError as error:
        return _fail(f"{_place_of(error) or file} {_why(error)}")
    except StoreError:
        return _fail("The database cannot be copied: it is damaged, or the disk is full. See signalbox doctor.")
    except SettingsError as error:
        return _fail(str(error))
    print(file)
    if settings.database_url is not None:
        print(
            f"signalbox: The backup does not contain the database. Back it up with: {_dump(settings)}", file=sys.stderr
        )
    return 0


def restore(file: Path) -> int:
    """Restore a backup and move existing data aside; return the exit status."""
    try:
        settings = load_settings(only=DATA_SETTINGS)
        _check_archive(file)
        folder = data_folder(settings)
        with ExitStack() as stack:
            if settings.database_url is None:
                _lock_data_folder(folder, stack)
            staged = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=_RESTORING, dir=folder)))
            _unpack(file, staged)
            _check(settings, staged)
            aside = _put_in_place(settings, staged)
    except (tarfile.TarError, EOFError, zlib.error):
        return _fail(f"{file} is damaged or incomplete. Restore another backup.")
    except OSError as error:
        return _fail(f"{_place_of(error) or file} {_why(error)}")
    except SettingsError as error:
        return _fail(str(error))
    print(f"Restored {file} into {folder.absolute()}." + (f" The previous data is in {aside}." if aside else ""))
    return 0


def _place_of(error: OSError) -> str:
    """Return the file that an error is about, empty for our temporary files."""
    name = str(error.filename or "")
    return "" if _WRITING in name or _RESTORING in name else name


def _why(error: OSError) -> str:
    return f"cannot be read or written: {(error.strerror or type(error).__name__).lower()}."


# --- writing ----------------------------------------------------------------------------------------------------------


def _write(settings: Settings, file: Path) -> None:
    """Write the archive to a temporary file and rename it, so that the target is never incomplete."""
    folder = settings.signalbox_data_dir
    if settings.database_url is None and not (folder / DATABASE_FILE).is_file():
        raise SettingsError(
            f"There is no database {location_of(settings)}. Run this in the server's folder, or set SIGNALBOX_DATA_DIR."
        )
    if not file.absolute().parent.is_dir():
        raise SettingsError(f"There is no folder {file.absolute().parent}. Create it, or choose another one.")
    with tempfile.TemporaryDirectory(prefix=_WRITING, dir=file.absolute().parent) as name:
        work = Path(name)
        archive = work / "archive"
        with (
            os.fdopen(os.open(archive, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as written,
            tarfile.open(fileobj=written, mode="w") as tar,
        ):
            if settings.database_url is None:
                copy_file(folder / DATABASE_FILE, work / DATABASE_FILE)
                tar.add(work / DATABASE_FILE, DATABASE_FILE)
            for one in (ADMIN_FILE, OVERRIDE_FILE):
                if (folder / one).is_file():
                    tar.add(folder / one, one)
            for path in _notes_in(notes_folder(settings)):
                with suppress(FileNotFoundError):  # deleted meanwhile
                    tar.add(path, str(PurePosixPath(_NOTES, path.relative_to(notes_folder(settings)).as_posix())))
            tar.close()  # writes the end of the archive
            written.flush()
            os.fsync(written.fileno())
        archive.replace(file)


def _notes_in(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def _dump(settings: Settings) -> str:
    """Return the pg_dump command for the database, without the password (PGPASSWORD or ~/.pgpass)."""
    assert settings.database_url is not None
    parts = urlsplit(settings.database_url.get_secret_value())
    user = f"{parts.username}@" if parts.username else ""
    address = f"postgresql://{user}{parts.netloc.rpartition('@')[2]}{parts.path}"
    return f"pg_dump --format=custom --file=signalbox-backup-{_now()}.dump '{address}'"


# --- restoring --------------------------------------------------------------------------------------------------------


def _check_archive(file: Path) -> None:
    """Reject a file that is not a backup, before the data folder is touched; raises SettingsError."""
    if not file.is_file():
        raise SettingsError(f"There is no file {file}." if not file.exists() else f"{file} is not a file.")
    try:
        is_archive = tarfile.is_tarfile(file)
    except OSError as error:
        raise SettingsError(f"{file} {_why(error)}") from None
    if not is_archive:
        raise SettingsError(f"{file} is not a backup of Signalbox.")


def _lock_data_folder(folder: Path, stack: ExitStack) -> None:
    try:
        hold_data_folder(folder, stack)
    except FolderInUse:
        raise SettingsError(f"Signalbox is running in the data folder {folder.absolute()}. Stop it first.") from None


def _unpack(file: Path, staged: Path) -> None:
    """Extract the files of a backup; raises SettingsError for any other member."""
    with tarfile.open(file) as tar:
        for member in tar:
            name = PurePosixPath(member.name)
            is_note = name.parts[0] == _NOTES and len(name.parts) > 1 and ".." not in name.parts
            content = tar.extractfile(member) if member.isreg() else None
            if content is None or not (member.name in _FILES or is_note):
                raise SettingsError(f"{file} is not a backup of Signalbox: it contains {member.name!r}.")
            place = staged / name
            place.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as written:
                while piece := content.read(1 << 20):
                    written.write(piece)


def _check(settings: Settings, staged: Path) -> None:
    """Reject a backup that this version cannot use, before anything is moved; raises SettingsError."""
    database = staged / DATABASE_FILE
    if database.is_file() != (settings.database_url is None):
        kind = "PostgreSQL" if settings.database_url is None else "SQLite"
        raise SettingsError(f"The backup was made with {kind}. Set DATABASE_URL as it was then (unset: SQLite).")
    if settings.database_url is not None:
        return
    try:
        found = inspect_file(database, _SECONDS)
    except StoreError:
        raise SettingsError("The database in the backup cannot be read.") from None
    if found.fault is not None:
        raise SettingsError(f"The database in the backup is damaged: {' '.join(found.fault.split())}.")
    if found.version is None or not is_known(found.version):
        raise SettingsError("The backup was made by a later version of Signalbox. Restore it with that version.")


def _put_in_place(settings: Settings, staged: Path) -> Path | None:
    """Move existing data aside and the backup into its place; return the folder with the old data, or None."""
    folder, notes = settings.signalbox_data_dir, notes_folder(settings)
    aside = folder / f"before-restore-{_now()}"
    log = (f"{DATABASE_FILE}-wal", f"{DATABASE_FILE}-shm")
    old = [folder / name for name in (*_FILES, *log) if (folder / name).exists()]
    kept = list(notes.iterdir()) if notes.is_dir() else []
    if old or kept:
        (aside / _NOTES).mkdir(parents=True, mode=0o700)
    for path in old:
        path.replace(aside / path.name)
    for path in kept:
        _move(path, aside / _NOTES / path.name)
    for path in staged.iterdir():
        if path.name != _NOTES:
            path.replace(folder / path.name)
    notes.mkdir(parents=True, exist_ok=True)
    for path in (staged / _NOTES).iterdir() if (staged / _NOTES).is_dir() else ():
        _move(path, notes / path.name)
    return aside if old or kept else None


def _move(path: Path, place: Path) -> None:
    """Move a file or folder, also to another disk, on which the notes may be."""
    shutil.move(path, place)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y%m%d-%H%M%SZ")


def _fail(sentence: str) -> int:
    print(f"signalbox: {sentence}", file=sys.stderr)
    return 2
