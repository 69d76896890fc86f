"""The notes folder: one Markdown file per note; never overwrites a file or leaves the folder."""

import asyncio
import os
import re
import secrets
import unicodedata
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import SavedNote

# Where the app serves the files of the folder.
NOTES = "/notes/"

LARGEST_NOTE = 256 * 1024  # bytes
_LONGEST_NAME = 120  # bytes: file systems take 255, and a suffix follows
_MOST_ALIKE = 200
# Names of devices on Windows, with any extension.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)


class NotesFolder:
    """A NoteStore in a folder. `most` limits the number of notes; `on_saved` is called for each new one."""

    def __init__(self, folder: Path, *, most: int = 5_000, on_saved: Callable[[], None] = lambda: None) -> None:
        self._folder = folder
        self._most = most
        self._on_saved = on_saved

    async def save(self, title: str, text: str, now: datetime) -> SavedNote:
        """Write a note to a file named after its title; raises ToolError."""
        content = f"---\ndate: {now.isoformat(timespec='seconds')}\n---\n\n# {title}\n\n{text.strip()}\n".encode()
        if len(content) > LARGEST_NOTE:
            raise ToolError(Code.INVALID_ARGUMENTS, f"text: a note can hold at most {LARGEST_NOTE // 1024} kB")
        name = await asyncio.to_thread(self._write, file_stem(title), content)
        self._on_saved()
        return SavedNote(name, NOTES + quote(name))

    def _write(self, stem: str, content: bytes) -> str:
        try:
            self._folder.mkdir(0o700, parents=True, exist_ok=True)
            if sum(1 for one in os.scandir(self._folder) if one.name.endswith(".md")) >= self._most:
                raise ToolError(
                    Code.TOOL_FAILED, f"The notes folder is full ({self._most:,} notes); delete some first."
                )
            return self._place(stem, content)
        except OSError as error:
            reason = error.strerror or "unknown reason"
            raise ToolError(Code.TOOL_FAILED, f"The note could not be written ({reason}).") from None

    def _place(self, stem: str, content: bytes) -> str:
        """Write a temporary file, then link it to the first free name, so that readers never see a partial note."""
        aside = self._folder / f".{secrets.token_hex(8)}.tmp"
        try:
            with open(aside, "xb", opener=_private) as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            for number in range(1, _MOST_ALIKE + 1):
                name = f"{stem}.md" if number == 1 else f"{stem}-{number}.md"
                if _linked(aside, self._folder / name):
                    return name
        finally:
            aside.unlink(missing_ok=True)
        raise ToolError(Code.TOOL_FAILED, f"There are {_MOST_ALIKE} notes with that title already; use another title.")


def _private(path: str, flags: int) -> int:
    """Open a file that only its owner can read: notes contain users' messages."""
    return os.open(path, flags, 0o600)


def _linked(aside: Path, target: Path) -> bool:
    """Link a file to a name unless it is taken; unlike a rename, a link never overwrites a file."""
    try:
        os.link(aside, target)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links: a copy overwrites no file either, but is not atomic
        return _copied(aside, target)
    return True


def _copied(aside: Path, target: Path) -> bool:
    try:
        with open(target, "xb", opener=_private) as stream:
            stream.write(aside.read_bytes())
    except FileExistsError:
        return False
    return True


def file_stem(title: str) -> str:
    """Return a file name for a title, without extension: letters and digits of any script, and hyphens."""
    plain = unicodedata.normalize("NFKC", title).lower()
    # Letters, digits and the marks that belong to them (many scripts write vowels as marks).
    spaced = "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in plain)
    stem = unicodedata.normalize("NFC", "-".join(spaced.split()))
    while len(stem.encode()) > _LONGEST_NAME:
        stem = stem[:-1]
    stem = stem.strip("-") or "note"
    return f"note-{stem}" if _DEVICES.fullmatch(stem) else stem
