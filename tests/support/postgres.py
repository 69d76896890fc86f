"""A PostgreSQL server for tests: a process on loopback with a fresh database for each test."""

import asyncio
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Self

import asyncpg
import pytest
from signalbox.store.engines.postgres import PostgresDatabase

WAIT = 20.0
NEEDED = "SIGNALBOX_NEEDS_SERVICES"
_TEMPLATE = "template_signalbox"
# Tests need no durability, and without it most of the time is saved.
_FAST = ("fsync=off", "full_page_writes=off")
_TRIES = 5
_MEMORY, _ROOM = "/dev/shm", 4 * 1024**3


def programs() -> Path | None:
    """Return the folder of the newest server's programs (SIGNALBOX_POSTGRES, or as installed), or None."""
    if given := os.environ.get("SIGNALBOX_POSTGRES"):
        return Path(given)
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    installed = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max((path.parent for path in installed), key=lambda path: int(path.parent.name), default=None)


def has_postgres() -> bool:
    """Return whether a server can be started here; fail if services are required and it is missing."""
    return programs() is not None


def absent() -> None:
    """Skip the test, or fail if services are required."""
    sentence = "PostgreSQL is not installed: apt-get install postgresql, or set SIGNALBOX_POSTGRES to its programs"
    if os.environ.get(NEEDED) == "1":
        pytest.fail(sentence)
    pytest.skip(sentence)


def _someone() -> str | None:
    """Return the user that runs the server, which refuses to run as root."""
    if os.geteuid() != 0:
        return None
    with suppress(KeyError):
        return pwd.getpwnam("postgres").pw_name
    return "nobody"


class Server:
    """A running server.

    `url(name)` is the address of one of its databases; its user needs no password.
    """

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        found = programs()
        assert found is not None
        self._bin, self.folder, self._data = found, folder, folder / "data"
        self._settings = () if durable else _FAST
        self._numbers = count(1)
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    @classmethod
    @contextmanager
    def started(cls, *, durable: bool = False) -> Iterator[Self]:
        """Run a server until the block ends; `durable` makes it wait for its disk, as in production."""
        folder = Path(tempfile.mkdtemp(prefix="signalbox-pg-", dir=None if durable else _in_memory()))
        server = cls(folder, durable=durable)
        try:
            server._make()
            server.start()
            yield server
        finally:
            server.stop()
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def url(self, name: str = "postgres", user: str = "postgres", port: int | None = None) -> str:
        return f"postgresql://{user}@127.0.0.1:{port or self.port}/{name}"

    def new_database(self) -> str:
        """Make a database with the current tables; return its URL."""
        name = f"test_{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {self._template}")
        return self.url(name)

    def empty_database(self) -> str:
        """Make a database without tables; return its URL."""
        name = f"empty_{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name}")
        return self.url(name)

    def sql(self, query: str, *values: object, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run SQL without the product's code; `database` is a name or a URL."""

        async def execute() -> list[tuple[Any, ...]]:
            address = database if "://" in database else self.url(database)
            connection = await asyncpg.connect(address, timeout=int(WAIT))
            try:
                if values:
                    return [tuple(row) for row in await connection.fetch(query, *values)]
                if re.match(r"\s*(select|show|with|table)\b", query, re.IGNORECASE):
                    return [tuple(row) for row in await connection.fetch(query)]
                await connection.execute(query)
                return []
            finally:
                await connection.close()

        return _apart(execute)

    @cached_property
    def _template(self) -> str:
        self.sql(f"CREATE DATABASE {_TEMPLATE}")

        async def migrate() -> None:
            database = PostgresDatabase(self.url(_TEMPLATE))
            await database.open()
            await database.aclose()

        _apart(migrate)
        return _TEMPLATE

    # --- the process --------------------------------------------------------------------------------------------------

    def _make(self) -> None:
        """Make the data folder, with a natural-language collation if available, as most databases have."""
        if (user := _someone()) is not None:
            shutil.chown(self.folder, user)
        self.folder.chmod(0o755)
        made = ["-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-locale"]
        sorted_ = ["--locale-provider=icu", "--icu-locale=en-US"]
        for extra in (sorted_, []):
            shutil.rmtree(self._data, ignore_errors=True)
            told = subprocess.run(
                self._as_user(str(self._bin / "initdb"), *made, *extra), capture_output=True, check=False, cwd="/"
            )
            if told.returncode == 0:
                return
        raise AssertionError(told.stderr.decode())

    def start(self) -> None:
        """Start the server on a free port, or on its previous one; return when it accepts connections.

        It ends with the thread that starts it, so that no server outlives killed tests.
        """
        for _ in range(_TRIES):
            port = self.port or _free_port()
            if self._is_started_on(port):
                self.port = port
                return
        raise AssertionError((self.folder / "log").read_text())

    def _is_started_on(self, port: int) -> bool:
        given = [f"port={port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}"]
        given.append("dynamic_shared_memory_type=mmap")  # in its folder, so that nothing is left where it is killed
        options = [word for setting in (*given, *self._settings) for word in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._as_user(str(self._bin / "postgres"), "-D", str(self._data), *options),
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd="/",
            )
        until = time.monotonic() + WAIT
        while time.monotonic() < until and self._process.poll() is None:
            with suppress(OSError):
                if (self._data / "postmaster.pid").read_text().splitlines()[7:8] == ["ready   "]:
                    return True
            time.sleep(0.01)  # polled: another process sends no event
        self.stop()
        return False

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """Stop the server: immediately (SIGQUIT, as in a crash), or after notifying its clients (SIGINT)."""
        if self._process is None:
            return
        self._process.send_signal(how)
        try:
            self._process.wait(WAIT)
        finally:
            self._process.kill()
            self._process.wait(WAIT)
            self._process = None

    def _as_user(self, *words: str) -> Sequence[str]:
        """Return the prefix that runs the server as an unprivileged user and ends it with the tests."""
        if (user := _someone()) is None:
            return ["setpriv", "--pdeathsig", "QUIT", *words]
        group = str(pwd.getpwnam(user).pw_gid)
        return ["setpriv", "--reuid", user, "--regid", group, "--clear-groups", "--pdeathsig", "QUIT", *words]


def _in_memory() -> str | None:
    """Return a folder in memory if there is space: a database has hundreds of small files."""
    with suppress(OSError):
        if shutil.disk_usage(_MEMORY).free > _ROOM and os.access(_MEMORY, os.W_OK):
            return _MEMORY
    return None


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        return int(listener.getsockname()[1])


def _apart(work: Any) -> Any:
    """Run an awaitable in a separate event loop, also while another one runs."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result(2 * WAIT)


def running() -> Iterator[Server]:
    """Run a server as a fixture."""
    if not has_postgres():
        absent()
    with Server.started() as server:
        yield server
