"""The whole server in a thread, on a free loopback port, for commands that need one for a moment."""

import logging
import socket
import threading
from types import TracebackType
from typing import Self

import uvicorn
from fastapi import FastAPI

from signalbox.app.asgi.uvicorn_protocol import ClientConnection
from signalbox.app.config import Settings, SettingsError
from signalbox.app.deps import Services
from signalbox.app.main import create_app

_START_SECONDS = 30.0
_GRACE_SECONDS = 2
_HOST = "127.0.0.1"


class _Server(uvicorn.Server):
    """A server that reports when it has started or failed, and ends runs before it closes their streams."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app
        self.settled = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then report it."""
        try:
            await super().startup(sockets)
        finally:
            self.settled.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all runs as interrupted, then close."""
        services: Services = self._app.state.services
        await services.runs.aclose()
        await super().shutdown(sockets)


class BackgroundServer:
    """A server while a `with` block runs. Its runs end with it. Raises SettingsError."""

    def __init__(self, settings: Settings) -> None:
        self._app = create_app(settings)
        self._socket = socket.create_server((_HOST, 0))
        self.url = f"http://{_HOST}:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(
            self._app,
            http=ClientConnection,
            log_config=None,
            log_level=logging.CRITICAL,
            access_log=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        self._server = _Server(config, self._app)
        self._thread = threading.Thread(target=self._serve, name="server", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._server.settled.wait(_START_SECONDS)
        if not self._server.started:
            self._close()
            raise getattr(self._app.state, "startup_error", None) or SettingsError("The server did not start.")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        self._server.should_exit = True
        self._thread.join(_START_SECONDS)
        self._socket.close()

    def _serve(self) -> None:
        self._server.run(sockets=[self._socket])
