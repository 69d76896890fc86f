"""The app over real HTTP: uvicorn in a thread, on a loopback port of its own."""

import logging
import socket
import threading
from collections.abc import Sequence
from typing import Self

import uvicorn
from signalbox.app.config import Settings
from signalbox.app.main import create_app
from signalbox.core.tools import Tool

_SECONDS = 15.0


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = threading.Event()

    def install_signal_handlers(self) -> None:
        pass

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


class ServedApp:
    """The app with these settings and tools, for as long as the `with` block lasts."""

    def __init__(self, settings: Settings, tools: Sequence[Tool] = ()) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = "http://{}:{}".format(*self._socket.getsockname())
        app = create_app(settings, extra_tools=tools)
        self._server = _Server(uvicorn.Config(app, log_config=None, log_level=logging.CRITICAL, access_log=False))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._server.listening.wait(_SECONDS):
            raise RuntimeError("the app did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(_SECONDS)
        self._socket.close()
