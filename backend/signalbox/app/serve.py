"""`signalbox serve`: what must be true before the server starts, the server itself, and a clean end."""

import asyncio
import errno
import logging
import signal
import socket
import sys
from contextlib import suppress
from types import FrameType

import uvicorn
from fastapi import FastAPI

from signalbox.app.admin import AdminToken
from signalbox.app.config import Settings, SettingsError, load_settings, misspelt, workers_wanted
from signalbox.app.deps import Parts
from signalbox.app.main import create_app, data_folder
from signalbox.app.security import is_loopback
from signalbox.app.workers import SENTENCE
from signalbox.core.errors import StoreError
from signalbox.runs.manager import RunManager

_GRACE_SECONDS = 5
_LAST_PORT = 65535


def serve(host: str | None = None, port: int | None = None, workers: int | None = None) -> int:
    """Serve until told to stop; return 0, or 2 with one sentence on standard error."""
    try:
        settings = load_settings()
        host = host or settings.signalbox_host
        token = token_for(settings, host)
        _refuse_workers(workers)
        data_folder(settings)
        listener = _listen(host, settings.signalbox_port if port is None else port)
        app = create_app(settings, token=token)
    except SettingsError as error:
        print(f"signalbox: {error}", file=sys.stderr)
        return 2
    for name in misspelt():
        print(f"signalbox: .env sets {name}, which is no setting of Signalbox; see .env.example.", file=sys.stderr)
    config = uvicorn.Config(
        app, log_config=None, log_level=logging.WARNING, access_log=False, timeout_graceful_shutdown=_GRACE_SECONDS
    )
    server = Server(config, app, host, _address(host, listener), settings)
    # uvicorn raises a signal again once it has shut down; being told to stop is no failure.
    signal.signal(signal.SIGTERM, _nothing)
    with listener, suppress(SystemExit):  # uvicorn's way out of a start that failed; it has said why
        server.run(sockets=[listener])
    return 0 if server.started else 2


def _nothing(number: int, frame: FrameType | None) -> None:
    """Take a signal that has done its work."""


class Server(uvicorn.Server):
    """Prints where it listens, drains when it is told to end, and ends the runs before it waits for their watchers."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, host: str, address: str, settings: Settings) -> None:
        super().__init__(config)
        self._host = host
        self._address = address
        self._settings = settings
        self._app = app
        self._hurry = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        for number in (signal.SIGTERM, signal.SIGINT):
            # uvicorn's own handlers run outside the loop, where nobody who waits in it can be woken.
            asyncio.get_running_loop().add_signal_handler(number, self.handle_exit, number, None)
        await super().startup(sockets)
        if self.should_exit:
            print("signalbox: it could not start; the line above says why.", file=sys.stderr)
            return
        if self._settings.is_simulated:
            print("No OPENROUTER_API_KEY is set: answers come from the simulator.")
        parts: Parts = self._app.state.parts
        for tool in parts.executor.tools:
            if tool.unavailable:
                print(f"{tool.spec.name} is not offered: {tool.unavailable}.")
        admin: AdminToken = self._app.state.admin_token
        if admin.file is not None:
            print(f"Operator's token (kept in {admin.file}): {admin.value}")
        print(f"Signalbox is ready: {self._address}", flush=True)
        if not is_loopback(self._host) and not self._settings.signalbox_allowed_hosts:
            print("Browsers on other machines need this one's name in SIGNALBOX_ALLOWED_HOSTS.", flush=True)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take no more runs from here on; a second signal, or Ctrl-C, ends also those under way."""
        is_last = sig == signal.SIGINT or self.should_exit
        super().handle_exit(sig, frame)
        parts = self._parts
        if parts is not None:
            parts.runs.is_closing = True
        if is_last and not self._hurry.is_set():
            self.force_exit = False  # uvicorn would drop the streams before they have told their end
            self._hurry.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, end honestly what still runs, and have it on disk; uvicorn alone would close the door first."""
        parts = self._parts
        if parts is not None:
            await self._drain(parts.runs)
            await parts.runs.aclose()
            if parts.runs.store.is_well:  # else the store tells of it when it is closed
                with suppress(StoreError):
                    await parts.runs.store.flush()
        await super().shutdown(sockets)

    async def _drain(self, runs: RunManager) -> None:
        """Let runs under way come to their end: they can be watched, resumed and stopped as ever meanwhile."""
        if self._hurry.is_set():
            return
        drained, told = asyncio.create_task(runs.drain()), asyncio.create_task(self._hurry.wait())
        seconds = self._settings.signalbox_drain_seconds
        await asyncio.wait({drained, told}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in (drained, told):
            task.cancel()
        await asyncio.gather(drained, told, return_exceptions=True)

    @property
    def _parts(self) -> Parts | None:
        return getattr(self._app.state, "parts", None)


def token_for(settings: Settings, host: str) -> str | None:
    """Return the token that an /api request may always carry; a bind beyond this machine is refused without any."""
    for secret in (settings.signalbox_access_token, None if is_loopback(host) else settings.signalbox_admin_token):
        if secret is not None:
            return secret.get_secret_value()
    if is_loopback(host) or settings.signalbox_require_token:
        return None
    raise SettingsError(
        f"{host} is reachable from other machines, and whoever reaches it spends your key. "
        "Set SIGNALBOX_ACCESS_TOKEN, or SIGNALBOX_REQUIRE_TOKEN=true and give each user a token "
        "(signalbox token create NAME), or listen on 127.0.0.1."
    )


def _refuse_workers(workers: int | None) -> None:
    if (workers or workers_wanted()) > 1:
        raise SettingsError(SENTENCE)


def _listen(host: str, port: int) -> socket.socket:
    """Take the port before anything else is started."""
    if not 0 <= port <= _LAST_PORT:
        raise SettingsError(f"There is no port {port}. Choose one from 0 to {_LAST_PORT} with --port.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = "is already in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        raise SettingsError(f"{host}:{port} {reason}. Stop what uses it, or choose another with --port.") from None


def _address(host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"
