"""Checks the data folder: permissions, free space, file system, and whether a server uses it."""

import errno
import fcntl
import os
import shutil
from pathlib import Path

from signalbox.app.config import Settings
from signalbox.app.database_setup import FILE as DATABASE
from signalbox.app.operator_token import FILE as ADMIN_TOKEN
from signalbox.commands.doctor.finding import Finding, fail, ok, warn

_SOME, _NEEDED = 1_000_000_000, 50_000_000  # bytes
_FAR = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "fuse.glusterfs", "fuse.sshfs"})
_OTHER = "Set SIGNALBOX_DATA_DIR to a writable folder."
_MADE_UP = frozenset({"proc", "sysfs", "cgroup", "cgroup2", "securityfs", "debugfs", "tracefs", "devpts"})
_MOUNTS = Path("/proc/self/mountinfo")


def check_folder(settings: Settings) -> list[Finding]:
    """Check the data folder, or the folder in which it would be created."""
    folder = settings.signalbox_data_dir.absolute()
    there = next(one for one in (folder, *folder.parents) if one.exists())
    if not there.is_dir():
        return [fail("data folder", f"{there} is a file, so {folder} cannot be a folder.", _OTHER)]
    if reason := cannot_write(there):
        return [fail("data folder", f"{there} cannot be written ({reason}).", _OTHER), *_notes(settings)]
    if there != folder:
        told = ok("data folder", f"{folder} does not exist yet; the first start creates it.")
        return [told, *_notes(settings), *_place(settings, there)]
    told = [_privacy(folder), *_notes(settings), *_place(settings, folder)]
    return told if settings.database_url is not None else [*told, _holder(folder)]


def _notes(settings: Settings) -> list[Finding]:
    """Check the notes folder if it is outside the data folder."""
    if settings.signalbox_notes_dir is None:
        return []
    folder = settings.signalbox_notes_dir.absolute()
    there = next(one for one in (folder, *folder.parents) if one.exists())
    reason = cannot_write(there) if there.is_dir() else "it is a file"
    if reason is None:
        return []
    return [fail("notes", f"{there} cannot be written ({reason}).", "Set SIGNALBOX_NOTES_DIR to a writable folder.")]


def cannot_write(folder: Path) -> str | None:
    """Return why a folder is not writable, None if it is. Tries an unnamed file; without O_TMPFILE, checks permissions.

    Permissions of kernel file systems (/proc) allow root to write, although no file can be created there.
    """
    if _kind_of_mount(folder) in _MADE_UP:
        return "it is a kernel file system"
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600))
    except AttributeError:
        return None if os.access(folder, os.W_OK | os.X_OK) else "permission denied"
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
            return (error.strerror or type(error).__name__).lower()
        return None if os.access(folder, os.W_OK | os.X_OK) else "permission denied"
    return None


def _privacy(folder: Path) -> Finding:
    """Check whether other users of this machine may write to the folder or read its files."""
    if folder.stat().st_mode & 0o022:
        return warn("data folder", f"Other users can write to {folder}.", f"chmod go-w {folder}")
    kept = [DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", ADMIN_TOKEN]
    open_ = [name for name in kept if (file := folder / name).exists() and file.stat().st_mode & 0o077]
    if open_:
        todo = f"chmod go= {' '.join(str(folder / name) for name in open_)}"
        return warn("data folder", f"Other users can read {' and '.join(open_)} in {folder}.", todo)
    return ok("data folder", f"{folder} is writable, and its private files are not readable for other users.")


def _place(settings: Settings, folder: Path) -> list[Finding]:
    found = [_room(folder)]
    kind = _kind_of_mount(folder)
    if kind in _FAR and settings.database_url is None:
        words = f"{folder} is on a network file system ({kind}), on which SQLite's locks are not reliable."
        found.append(warn("disk", words, "Use a local disk, or PostgreSQL (DATABASE_URL)."))
    return found


def _room(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    shown = f"{free / 1e9:,.1f} GB" if free >= _SOME else f"{free / 1e6:,.0f} MB"
    words = f"{shown} are free on the data folder's disk."
    todo = "Free some space, or move the data folder (SIGNALBOX_DATA_DIR)."
    if free < _NEEDED:
        return fail("disk", words, todo)
    return warn("disk", words, todo) if free < _SOME else ok("disk", words)


def _kind_of_mount(folder: Path) -> str:
    """Return the type of a folder's file system, empty if unknown (only Linux reports it)."""
    try:
        lines = [line.split() for line in _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()]
    except OSError:
        return ""
    kinds = {fields[4].replace("\\040", " "): fields[fields.index("-") + 1] for fields in lines}
    real = folder.resolve()
    return next((kinds[str(one)] for one in (real, *real.parents) if str(one) in kinds), "")


def _holder(folder: Path) -> Finding:
    """Check whether a server uses the folder, by taking its lock as a reader for a moment."""
    try:
        with (folder / "lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return ok("lock", "No server has used the data folder yet.")
    except BlockingIOError:
        return ok("lock", "A server is using the data folder; this is fine if it is the intended one.")
    except OSError as error:
        return warn("lock", f"The lock in {folder} cannot be read ({error.strerror}).", "Check that you own the file.")
    return ok("lock", "No server is using the data folder.")
