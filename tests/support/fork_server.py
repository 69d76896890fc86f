"""A process that has imported Signalbox and forks for each command: ten times faster than a new interpreter.

It forks as the supervisor does: all modules are imported, and no thread or event loop has started. A forked command has
a separate folder, environment, standard streams and signals.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

# The commands, and modules that a server imports only when it starts.
_PRELOADED = (
    "signalbox.cli",
    "signalbox.server.serve",
    "signalbox.commands.doctor.examination",
    "signalbox.commands.replay",
    "signalbox.commands.token",
    "signalbox.simulator.http.server",
    "signalbox.store.engines.postgres",
    "alembic.command",
    "alembic.config",
    "anyio._backends._asyncio",
    "asyncpg",
    "encodings.idna",
    "encodings.utf_8_sig",
    "httpcore",
    "jsonschema",
    "sqlalchemy.dialects.postgresql.asyncpg",
    "uvicorn.lifespan.on",
    "uvicorn.loops.uvloop",
    "uvicorn.protocols.websockets.auto",
    "uvloop",
)
_NUMBER = struct.Struct("i")
_LARGEST_REQUEST = 200_000
_ROOT = Path(__file__).resolve().parent.parent.parent


class Forked:
    """A running `python -m MODULE` or `python -c CODE` with what tests use of the interface of `subprocess.Popen`."""

    def __init__(self, arguments: Sequence[str], cwd: Path, env: Mapping[str, str], streams: Sequence[int]) -> None:
        self.args = arguments
        self.returncode: int | None = None
        self._lock = threading.Lock()
        self._news, told = os.pipe()
        request = json.dumps({"arguments": arguments, "cwd": str(cwd), "env": dict(env)}).encode()
        socket.send_fds(_fork_server(), [request], [told, *streams])
        os.close(told)
        self.pid = self._read()

    def _read(self) -> int:
        return _NUMBER.unpack(os.read(self._news, _NUMBER.size))[0]

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status; for a killed command, the negative number of the signal."""
        if self.returncode is None and not select.select([self._news], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        with self._lock:
            if self.returncode is None:
                self.returncode = self._read()
                os.close(self._news)
        return self.returncode

    def poll(self) -> int | None:
        """Return the exit status, or None while the command runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the command has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended, and the fork server has read its status
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


def can_fork(arguments: Sequence[str], env: Mapping[str, str]) -> bool:
    """Return whether a fork suffices for this command; the fork server has read some variables already."""
    return (
        hasattr(os, "pidfd_open")
        and arguments[0] in ("-m", "-c")
        and not any(name.startswith(("PYTHON", "LD_", "MALLOC_", "TMPDIR")) for name in env)
    )


@cache
def _fork_server() -> socket.socket:
    """Start this process's fork server; it ends when this process closes its socket or ends."""
    mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = subprocess.Popen(
        [sys.executable, "-m", __name__, str(its.fileno())],
        cwd=_ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        pass_fds=[its.fileno()],
    )
    its.close()

    def end() -> None:
        mine.close()
        server.wait()

    atexit.register(end)
    return mine


class _Server:
    """Forks for each request; writes the pid and then the exit status to the pipe that came with the request."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._waiting = selectors.DefaultSelector()
        self._waiting.register(requests, selectors.EVENT_READ)

    def until_fork(self) -> Sequence[str]:
        """Serve requests.

        Return the arguments in each child, and raise SystemExit in the server when the requests end.
        """
        while True:
            for key, _ in self._waiting.select():
                if key.fileobj is not self._requests:
                    self._tell_end(key.fd, *key.data)
                elif (arguments := self._fork()) is not None:
                    return arguments

    def _tell_end(self, pidfd: int, pid: int, news: int) -> None:
        self._waiting.unregister(pidfd)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(news, _NUMBER.pack(status))
        os.close(pidfd)
        os.close(news)

    def _fork(self) -> Sequence[str] | None:
        raw, handles, _, _ = socket.recv_fds(self._requests, _LARGEST_REQUEST, 4)
        if not raw:
            sys.exit()
        news, *streams = handles
        request = json.loads(raw)
        pid = os.fork()
        if pid:
            for stream in streams:
                os.close(stream)
            os.write(news, _NUMBER.pack(pid))
            self._waiting.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, news))
            return None
        os.close(news)
        self._become(streams, **request)
        return request["arguments"]

    def _become(self, streams: Sequence[int], cwd: str, env: Mapping[str, str], **_: object) -> None:
        """Set up the child like a new interpreter, with only the standard streams open."""
        for key in list(self._waiting.get_map().values()):
            if key.fileobj is not self._requests:
                os.close(key.fd)
                os.close(key.data[1])
        self._waiting.close()
        self._requests.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        time.tzset()
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored where pytest was started by nohup


def _main() -> None:
    for name in _PRELOADED:
        importlib.import_module(name)
    importlib.import_module("tests.support.lean_starts").prepare()
    gc.freeze()  # what is there before a fork stays shared
    server = _Server(socket.socket(fileno=int(sys.argv[1])))
    option, program, *arguments = server.until_fork()
    sys.path[0] = str(Path.cwd())  # as `-m` and `-c` do
    if option == "-c":
        sys.argv = ["-c", *arguments]
        exec(program, {"__name__": "__main__"})
    else:
        sys.argv = [program, *arguments]
        runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main()
