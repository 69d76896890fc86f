"""The full-text index of folders, in SQLite."""

import fcntl
import os
import sqlite3
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from stat import S_ISREG

import structlog

from signalbox.services.search.pages import SUFFIXES, read_page

_log = structlog.get_logger(__name__)

LARGEST_FILE = 2 * 1024 * 1024
MOST_FILES = 20_000
_FORMAT = 3
_BATCH = 200
_BUSY_SECONDS = 5.0
_SKIPPED_FOLDERS = {"node_modules", "__pycache__"}
_SUFFIXES = tuple(SUFFIXES)

_TABLES = (
    "CREATE TABLE about (folders TEXT NOT NULL)",
    """CREATE TABLE pages (
        path TEXT PRIMARY KEY, title TEXT NOT NULL, published TEXT NOT NULL,
        mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL
    ) WITHOUT ROWID""",
    """CREATE VIRTUAL TABLE sections USING fts5 (
        title, heading, body, path UNINDEXED, slug UNINDEXED, tokenize = "porter unicode61 remove_diacritics 2"
    )""",
)
# Words in titles and headings weigh more than words in the text. Of a long text only the part around the words is
# returned.
_FIND = """
SELECT sections.path, sections.title, sections.heading, sections.slug,
       iif(pages.size <= 65536, sections.body, snippet(sections, 2, '', '', '…', 64)), pages.published,
       -bm25(sections, 4.0, 6.0, 1.0)
FROM sections JOIN pages ON pages.path = sections.path
WHERE sections MATCH ? AND pages.published BETWEEN ? AND ?
ORDER BY bm25(sections, 4.0, 6.0, 1.0) LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Found:
    """A matching section; `path` starts with its folder's URL path, `published` is the file's modification date."""

    path: str
    title: str
    heading: str
    slug: str
    body: str
    published: str
    score: float


@dataclass(frozen=True, slots=True)
class File:
    """The attributes that show whether a file has changed."""

    mtime_ns: int
    size: int


def scan(folder: Path) -> dict[str, File]:
    """Return the files to index by relative path; skips hidden, huge and external files."""
    files: dict[str, File] = {}
    for path, entry in _walk(folder):
        if len(files) >= MOST_FILES:
            break
        if file := _file(entry, folder):
            files[path] = file
    return files


def _walk(folder: Path) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """Yield documents with their relative paths, those of a folder before those of its subfolders."""
    waiting = [""]
    while waiting:
        parent = waiting.pop()
        subfolders: list[str] = []
        for entry in _entries(folder / parent):
            path = f"{parent}/{entry.name}" if parent else entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _SKIPPED_FOLDERS:
                    subfolders.append(path)
            elif entry.name.lower().endswith(_SUFFIXES):
                yield path, entry
        waiting += reversed(subfolders)


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return sorted((entry for entry in entries if entry.name[0] != "."), key=attrgetter("name"))
    except OSError:
        return []


def _file(entry: "os.DirEntry[str]", folder: Path) -> File | None:
    try:
        if entry.is_symlink() and not Path(entry.path).resolve(strict=True).is_relative_to(folder):
            return None
        status = entry.stat()
    except (OSError, RuntimeError):
        return None  # deleted, not readable, or a loop of symbolic links (RuntimeError before Python 3.13)
    if not S_ISREG(status.st_mode) or status.st_size > LARGEST_FILE or not _is_utf8(entry.name):
        return None
    return File(status.st_mtime_ns, status.st_size)


def _is_utf8(name: str) -> bool:
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


class DocsIndex:
    """The index of some folders, in memory or in a file. It is not thread-safe: the caller holds a lock.

    The keys of `folders` are the first part of paths in the index and of URLs in the app.
    """

    def __init__(self, folders: Mapping[str, Path], database: Path | None = None) -> None:
        self._folders = folders
        self._connection = _open(database, "\n".join(f"{place} {folder}" for place, folder in folders.items()))

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def refresh(self) -> Counter[str]:
        """Index changed files; return the number of pages per folder."""
        there = {f"{place}/{path}": file for place, root in self._folders.items() for path, file in scan(root).items()}
        rows = self._connection.execute("SELECT path, mtime_ns, size FROM pages")
        known = {path: File(mtime_ns, size) for path, mtime_ns, size in rows}
        changed = [path for path, file in there.items() if known.get(path) != file]
        gone = [path for path in known if path not in there]
        for start in range(0, max(len(changed), len(gone)), _BATCH):
            # Committed in batches, so that an interrupted refresh resumes, and other workers can write in between.
            with writing(self._connection):
                self._drop(gone[start : start + _BATCH])
                for path in changed[start : start + _BATCH]:
                    if self._indexed(path) != there[path]:  # another worker may have indexed it meanwhile
                        self._drop([path])
                        self._add(path, there[path])
        return Counter(path.partition("/")[0] for path in there)

    def find(self, expression: str, after: str, before: str, most: int) -> list[Found]:
        """Return the best matching sections of files modified between two dates."""
        return [Found(*row) for row in self._connection.execute(_FIND, (expression, after, before, most))]

    def _indexed(self, path: str) -> File | None:
        row = self._connection.execute("SELECT mtime_ns, size FROM pages WHERE path = ?", (path,)).fetchone()
        return File(*row) if row else None

    def _drop(self, paths: list[str]) -> None:
        for path in paths:
            row = self._connection.execute("SELECT first, last FROM pages WHERE path = ?", (path,)).fetchone()
            if row:
                self._connection.execute("DELETE FROM sections WHERE rowid BETWEEN ? AND ?", row)
                self._connection.execute("DELETE FROM pages WHERE path = ?", (path,))

    def _add(self, path: str, file: File) -> None:
        """Index one file; its sections have consecutive row ids, so that they can be found without a scan."""
        place, _, within = path.partition("/")
        try:
            raw = (self._folders[place] / within).read_bytes()
        except OSError:
            return
        if b"\0" in raw[:8_000]:
            raw = b""  # not text, despite its name
        page = read_page(within, raw.decode("utf-8-sig", "replace"))
        first: int = self._connection.execute("SELECT coalesce(max(rowid), 0) + 1 FROM sections").fetchone()[0]
        self._connection.executemany(
            "INSERT INTO sections (rowid, title, heading, body, path, slug) VALUES (?, ?, ?, ?, ?, ?)",
            [(first + i, page.title, one.heading, one.body, path, one.slug) for i, one in enumerate(page.sections)],
        )
        day = datetime.fromtimestamp(file.mtime_ns / 1e9, UTC).date().isoformat()
        self._connection.execute(
            "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?)",
            (path, page.title, day, file.mtime_ns, file.size, first, first + len(page.sections) - 1),
        )


@contextmanager
def writing(connection: sqlite3.Connection) -> Generator[None]:
    """Run an exclusive transaction; waits for other workers."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


def _open(database: Path | None, folders: str) -> sqlite3.Connection:
    """Open the index; recreate it if it has other folders or another format, or is damaged."""
    if database is None:
        return _prepared(":memory:", folders)
    try:
        database.parent.mkdir(parents=True, exist_ok=True)
        with _alone(database):
            try:
                return _prepared(str(database), folders)
            except sqlite3.OperationalError:  # not writable
                raise
            except sqlite3.DatabaseError:  # damaged, or not a database
                _remove(database)
                return _prepared(str(database), folders)
    except (sqlite3.DatabaseError, OSError) as error:
        _log.warning("docs_index.in_memory", error=type(error).__name__)
        return _prepared(":memory:", folders)


@contextmanager
def _alone(database: Path) -> Generator[None]:
    """Serialize workers that open the index at the same time, because SQLite does not lock a file's creation."""
    with Path(f"{database}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _prepared(database: str, folders: str) -> sqlite3.Connection:
    """Open an index and recreate outdated tables in place, because other workers may have it open."""
    connection = sqlite3.connect(database, check_same_thread=False, timeout=_BUSY_SECONDS)
    try:
        if not _fits(connection, folders):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            with writing(connection):
                if not _fits(connection, folders):
                    _make_tables(connection, folders)
    except BaseException:
        connection.close()
        raise
    return connection


def _fits(connection: sqlite3.Connection, folders: str) -> bool:
    with closing(connection.execute("PRAGMA user_version")) as cursor:
        if cursor.fetchone() != (_FORMAT,):
            return False
    there = "SELECT count(*) FROM sqlite_master WHERE name IN ('about', 'pages', 'sections')"
    if connection.execute(there).fetchone() != (3,):
        return False
    return connection.execute("SELECT folders FROM about").fetchone() == (folders,)


def _make_tables(connection: sqlite3.Connection, folders: str) -> None:
    for table in ("about", "pages", "sections"):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    for table in _TABLES:
        connection.execute(table)
    connection.execute("INSERT INTO about VALUES (?)", (folders,))
    connection.execute(f"PRAGMA user_version = {_FORMAT}")


def _remove(database: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{database}{suffix}").unlink(missing_ok=True)
