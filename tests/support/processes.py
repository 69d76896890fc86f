"""`signalbox` as a separate process, for tests of signals, the environment or standard error."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import httpx
import pytest
from signalbox.app.config import Settings
from signalbox.cli import main

from tests.conftest import ROOT
from tests.support.fork_server import Forked, can_fork

WAIT = 30.0
_READY = re.compile(r"Signalbox is ready: (http://\S+)")


def environment(**given: str) -> dict[str, str]:
    """Return the environment without Signalbox's settings, except those given."""
    names = {name.upper() for name in Settings.model_fields} | {"WEB_CONCURRENCY"}
    kept = {name: value for name, value in os.environ.items() if name.upper() not in names}
    folders = [str(ROOT / "backend"), str(ROOT), os.environ.get("PYTHONPATH", ""), given.get("PYTHONPATH", "")]
    python = os.pathsep.join(filter(None, folders))
    return {**kept, "PYTHONUNBUFFERED": "1", "SIGNALBOX_SIMULATOR_PACE": "0", **given, "PYTHONPATH": python}


def command(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, data: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run `python -m signalbox …` and return the completed process."""
    with TemporaryFile() as given, TemporaryFile() as printed, TemporaryFile() as told:
        given.write(data or b"")
        given.seek(0)
        process = start(["-m", "signalbox", *arguments], cwd, env or {}, given, printed, told)
        try:
            status = process.wait(WAIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        printed.seek(0)
        told.seek(0)
        return subprocess.CompletedProcess(arguments, status, printed.read(), told.read())


def start(
    arguments: Sequence[str], cwd: Path, env: Mapping[str, str], *streams: IO[bytes]
) -> subprocess.Popen[bytes] | Forked:
    """Start `python ARGUMENTS` with three standard streams: as a fork, or as a new interpreter if needed."""
    around = environment(**env)
    if can_fork(arguments, env):
        return Forked(arguments, cwd, around, [stream.fileno() for stream in streams])
    stdin, stdout, stderr = streams
    return subprocess.Popen(
        [sys.executable, *arguments], cwd=cwd, env=around, stdin=stdin, stdout=stdout, stderr=stderr
    )


def command_here(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run `signalbox …` in this process with another environment: a hundred times faster than a process."""
    printed, told = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed), redirect_stderr(told):
        patch.chdir(cwd)
        for name in Settings.model_fields:
            patch.delenv(name.upper(), raising=False)
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        status = main(arguments)
    return subprocess.CompletedProcess(arguments, status, printed.getvalue().encode(), told.getvalue().encode())


class Process:
    """A server process and its output; `url` is its address once it has printed it."""

    def __init__(self, arguments: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        self._log = cwd / "stderr.log"
        read, write = os.pipe()
        self._output = os.fdopen(read, "rb")
        with Path(os.devnull).open("rb") as nothing, os.fdopen(write, "wb") as output, self._log.open("wb") as log:
            self.process = start(arguments, cwd, env, nothing, output, log)
        self.printed: list[str] = []
        self.url = ""
        self._told = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._output:
            self.printed.append(line.decode().rstrip())
            if match := _READY.search(self.printed[-1]):
                self.url = match[1]
                self._told.set()
        self._told.set()

    def ready(self) -> "Process":
        assert self._told.wait(WAIT)
        if not self.url:
            self.process.kill()
            self.end()
            raise AssertionError((self.printed, self.errors()))
        return self

    def client(self, **settings: object) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=WAIT, trust_env=False, verify=False, **settings)  # type: ignore[arg-type]

    def errors(self) -> str:
        """Return the standard error output so far: the log."""
        return self._log.read_text()

    def end(self) -> int:
        """Wait for the process to exit; return its exit status."""
        status = self.process.wait(WAIT)
        self._reader.join(WAIT)
        self._output.close()
        return status


@contextmanager
def serving(cwd: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Iterator[Process]:
    """Run `python -m signalbox serve` on a free port until the block ends."""
    process = Process(["-m", "signalbox", "serve", "--port", "0", *arguments], cwd, env or {})
    try:
        yield process.ready()
    finally:
        process.process.terminate()
        process.end()
