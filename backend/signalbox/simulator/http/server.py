"""Runs the simulator in a thread, or as a program."""

import logging
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import uvicorn
from starlette.applications import Starlette

from ..native.table import ROWS
from .app import DEFAULT_PACE, create_simulator
from .state import SimulatorState

HOST = "127.0.0.1"
START_SECONDS = 10.0
_THREAD = "simulator"


class _Server(uvicorn.Server):
    """A server that reports when it listens and installs no signal handlers."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = threading.Event()

    def install_signal_handlers(self) -> None:
        """Install no signal handlers."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then report that the server listens."""
        await super().startup(sockets)
        self.listening.set()


def _is_not_simulator(record: logging.LogRecord) -> bool:
    """Drop uvicorn's records about the simulator: connections that faults close would be errors."""
    return record.threadName != _THREAD


class BackgroundSimulator:
    """The simulator in a thread, on a free loopback port, while a `with` block runs."""

    def __init__(
        self,
        *,
        replay: Path | None = None,
        pace: float = 0.0,
        list_faults: bool = True,
        host: str = HOST,
        port: int = 0,
    ) -> None:
        self.app: Starlette = create_simulator(replay=replay, pace=pace, list_faults=list_faults)
        self._socket = socket.create_server((host, port))
        self.host, self.port = self._socket.getsockname()[:2]
        # The loggers belong to the whole process, so this changes neither their levels nor their handlers.
        config = uvicorn.Config(self.app, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
        config.access_log = False
        logging.getLogger("uvicorn.error").addFilter(_is_not_simulator)
        self._server = _Server(config)
        self._thread = threading.Thread(target=self._serve, name=_THREAD, daemon=True)

    @property
    def base_url(self) -> str:
        """Return the base URL for OpenRouter clients."""
        return f"http://{self.host}:{self.port}/api/v1"

    @property
    def state(self) -> SimulatorState:
        """Return the record of requests and answers."""
        return self.app.state.simulator

    def wait_until(self, holds: Callable[[SimulatorState], bool], seconds: float = 5.0) -> bool:
        """Wait for a condition on the record; return whether it became true."""
        with self.state.changed:
            return self.state.changed.wait_for(lambda: holds(self.state), seconds)

    def start(self) -> Self:
        """Start the thread and wait until the server listens."""
        self._thread.start()
        if not self._server.listening.wait(START_SECONDS):
            raise RuntimeError("the simulator did not start")
        return self

    def stop(self) -> None:
        """End all open answers and the thread."""
        self._server.should_exit = True
        self._server.force_exit = self.state.open_streams > 0
        self._thread.join(START_SECONDS)
        self._socket.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _serve(self) -> None:
        self._server.run(sockets=[self._socket])


def serve(host: str = HOST, port: int = 8001, replay: Path | None = None, pace: float = DEFAULT_PACE) -> None:
    """Run the simulator in the foreground until it is interrupted; prints its base URLs first."""
    app = create_simulator(replay=replay, pace=pace)
    with socket.create_server((host, port)) as listener:
        address = listener.getsockname()
        origin = f"http://{address[0]}:{address[1]}"
        native = "".join(f"  {', '.join(row.dialects)}: {origin}{row.base}\n" for row in ROWS)
        sys.stdout.write(f"simulator: {origin}/api/v1\n{native}")
        sys.stdout.flush()
        config = uvicorn.Config(app, log_level="error", lifespan="off", access_log=False, timeout_graceful_shutdown=1)
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
