"""Reads the files that a set names. They must be in the folder of the set."""

from pathlib import Path, PurePosixPath

_LARGEST = 20 * 1024 * 1024


class Unreadable(ValueError):
    """A path that cannot be used; the message is a sentence part that names it."""


def read_confined(folder: Path, name: str) -> bytes:
    """Return the content of a file in the folder; raises Unreadable for any other path, also through a link."""
    if not name.isprintable() or "\\" in name or ":" in name:
        raise Unreadable(f"{name[:100]!r} must be a relative path, with / between folders")
    if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
        raise Unreadable(f"{name[:100]!r} must be in the folder of the set: no absolute path and no ..")
    try:
        path = (folder / name).resolve(strict=True)
        if not path.is_relative_to(folder.resolve(strict=True)):
            raise Unreadable(f"{name[:100]!r} is a link to a file outside of the folder of the set")
        if not path.is_file():
            raise Unreadable(f"{name[:100]!r} is not a regular file")
        if path.stat().st_size > _LARGEST:
            raise Unreadable(f"{name[:100]!r} is larger than {_LARGEST // 1024 // 1024} MB")
        return path.read_bytes()
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        reason = (error.strerror if isinstance(error, OSError) else None) or "it links to itself"
        raise Unreadable(f"{name[:100]!r} cannot be read: {reason}") from None


def read_confined_text(folder: Path, name: str) -> str:
    """Return the text of a file in the folder; raises Unreadable."""
    try:
        return read_confined(folder, name).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable(f"{name[:100]!r} is not UTF-8 text") from None
