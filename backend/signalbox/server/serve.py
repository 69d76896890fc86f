"""`signalbox serve`: checks before the start, the server itself, and a clean shutdown."""

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from shlex import quote
from types import FrameType
from typing import Any

import structlog
import uvicorn
from fastapi import FastAPI

from signalbox.app.asgi.security import is_loopback
from signalbox.app.asgi.uvicorn_protocol import ClientConnection
from signalbox.app.config import (
    Settings,
    SettingsError,
    load_settings,
    unknown_in_environment,
    unknown_in_file,
    workers_wanted,
)
from signalbox.app.deps import Services
from signalbox.app.folders import data_folder
from signalbox.app.installation import where_settings_are_listed
from signalbox.app.logs.setup import configure_logs, log_what_python_prints
from signalbox.app.main import create_app
from signalbox.app.operator_token import AdminToken
from signalbox.app.process.data_dir_lock import SENTENCE
from signalbox.app.sign_in.setup import has_sign_in
from signalbox.core.errors import StoreError
from signalbox.runs.manager import RunManager
from signalbox.server.metrics_port import MetricsPort, shared_metrics
from signalbox.server.port_handover import close_port, until_none
from signalbox.server.ports import Ports, open_ports
from signalbox.server.supervisor import Supervisor
from signalbox.server.worker_pipe import DRAIN, HURRY, RELOAD, Link

_GRACE_SECONDS = 5

_log = structlog.get_logger()


def serve(host: str | None = None, port: int | None = None, workers: int | None = None) -> int:
    """Serve until stopped; return 0, or 2 with one sentence on standard error if the start failed."""
    try:
        settings = load_settings()
        host = host or settings.signalbox_host
        token = token_for(settings, host)
        count = count_of(settings, workers)
        data_folder(settings)
        with open_ports(settings, host, settings.signalbox_port if port is None else port) as ports:
            return _supervise(settings, token, ports, count) if count > 1 else _work(settings, token, ports)
    except SettingsError as error:
        return _report(error)


def _work(settings: Settings, token: str | None, ports: Ports, link: Link | None = None) -> int:
    """Serve in this process, alone or as a worker; return the exit status. Raises SettingsError."""
    log_what_python_prints()
    app = create_app(settings, token=token)
    if link is None:
        _warn_of_misspelt()
    config = uvicorn.Config(
        app,
        http=ClientConnection,
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,  # do not reveal the server software
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    on_ready = partial(_greet, settings, ports, ports.address) if link is None else link.report_ready
    server = Server(config, app, settings, on_ready, link)
    if ports.metrics is not None:
        server.metrics_port = MetricsPort(app, settings, ports.metrics)
    # uvicorn raises the signal again after its shutdown; stopping on request is not a failure.
    signal.signal(signal.SIGTERM, _ignore)
    # A failed start is printed below as one sentence; uvicorn would log it too.
    logging.getLogger("uvicorn.error").addFilter(lambda record: not str(record.msg).startswith("signalbox: "))
    with suppress(SystemExit):  # raised by uvicorn after a failed start
        server.run(sockets=[ports.public])
    if server.started:
        return 0
    error: SettingsError | None = getattr(app.state, "startup_error", None)
    return 2 if error is None else _report(error)


def _supervise(settings: Settings, token: str | None, ports: Ports, count: int) -> int:
    """Serve in several processes supervised by this one."""
    configure_logs(
        settings.signalbox_log_level,
        settings.secrets,
        is_one_of_several=True,
        log_format=settings.signalbox_log_format,
    )
    log_what_python_prints()
    _warn_of_misspelt()

    def work(link: Link) -> int:
        try:
            return _work(settings, token, ports, link)
        except SettingsError as error:
            return _report(error)

    with shared_metrics(settings) as on_death:
        return Supervisor(
            count,
            work,
            on_ready=partial(_greet, settings, ports, f"{ports.address} ({count} workers)"),
            on_stop=ports.close,  # refuse connections once no worker is left to accept them
            on_death=on_death,
            drain_seconds=settings.signalbox_drain_seconds,
            reloads=settings.signalbox_upstreams is not None,
        ).run()


def _report(error: SettingsError) -> int:
    """Print why the start failed; return the exit status."""
    print(f"signalbox: {error}", file=sys.stderr)
    return 2


def _warn_of_misspelt() -> None:
    """Warn about unknown settings in `.env` and typos in the environment; the doctor also lists other names."""
    typos = {name: meant for name, meant in unknown_in_environment().items() if meant}
    for place, unknown in ((".env", unknown_in_file()), ("The environment", typos)):
        for name, meant in unknown.items():
            hint = f"did you mean {meant}?" if meant else f"see {where_settings_are_listed()}."
            print(f"signalbox: {place} sets {name}, which is not a setting; {hint}", file=sys.stderr)


def _greet(settings: Settings, ports: Ports, address: str, lines: Sequence[str]) -> None:
    """Print the address; scripts that wait for the start look for "is ready"."""
    for line in lines:
        print(line)
    if ports.metrics is not None:
        print(f"Metrics are at {ports.metrics_address}")
    print(f"Signalbox is ready: {address}", flush=True)
    if not is_loopback(ports.host) and not settings.signalbox_allowed_hosts:
        print("Browsers on other machines need this one's name in SIGNALBOX_ALLOWED_HOSTS.", flush=True)


def _ignore(number: int, frame: FrameType | None) -> None:
    """Ignore a signal that uvicorn raises again."""


class Server(uvicorn.Server):
    """A uvicorn server that reports when it is ready, drains on a signal, and ends runs before closing their streams.

    With a `link` it is one of several workers and takes orders from the supervisor.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        app: FastAPI,
        settings: Settings,
        on_ready: Callable[[Sequence[str]], None],
        link: Link | None = None,
    ) -> None:
        super().__init__(config)
        self._settings = settings
        self._app = app
        self._on_ready = on_ready
        self._link = link
        self._hurry = asyncio.Event()
        self.metrics_port: MetricsPort | None = None
        self._reloading: asyncio.Task[None] | None = None  # the event loop keeps only weak references

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then report that the server is ready."""
        loop = asyncio.get_running_loop()
        # uvicorn's handlers run outside the event loop and cannot wake its tasks.
        if self._link is None:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self.handle_exit, number, None)
            if self._settings.signalbox_upstreams is not None:
                loop.add_signal_handler(signal.SIGHUP, self._reload)
            elif signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as it is under nohup
                loop.add_signal_handler(signal.SIGHUP, self.handle_exit, signal.SIGTERM, None)
        else:  # the supervisor counts signals: a terminal or systemd sends them to the whole process group
            loop.add_signal_handler(signal.SIGTERM, self._end)
            loop.add_signal_handler(signal.SIGINT, _ignore, signal.SIGINT, None)
            loop.add_reader(self._link.orders, self._follow_orders, self._link, sockets)
        await super().startup(sockets)
        if self.metrics_port is not None and not self.should_exit:
            await self.metrics_port.open()
        if not self.should_exit:
            self._on_ready(self._greeting())

    def _greeting(self) -> list[str]:
        """Return lines about this server for the operator."""
        services: Services = self._app.state.services
        admin: AdminToken = self._app.state.admin_token
        lines = [
            f"{tool.spec.name} is not offered: {tool.unavailable}."
            for tool in services.executor.tools
            if tool.unavailable
        ]
        if self._settings.is_simulated:
            lines.insert(0, "No OPENROUTER_API_KEY is set: answers come from the simulator.")
        if admin.file is not None:
            # Not the token itself: the output of a service ends up in logs.
            lines.append(f"The page /operator asks for the operator's token: cat {quote(str(admin.file.absolute()))}")
        return lines

    def _follow_orders(self, link: Link, sockets: Sequence[socket.socket] | None) -> None:
        """Follow the supervisor's orders; if it has died, close the port for its successor and drain."""
        orders = link.read_orders()
        if not orders:
            asyncio.get_running_loop().remove_reader(link.orders)
            _log.error("worker.orphaned")
            for one in (*getattr(self, "servers", ()), *(sockets or ())):
                one.close()
            if self.metrics_port is not None:
                self.metrics_port.stop_listening()
        if RELOAD in orders:
            self._reload()
        if HURRY in orders:
            if not self._hurry.is_set():
                self.handle_exit(signal.SIGINT, None)
        elif DRAIN in orders or not orders:
            self._end()

    def _reload(self) -> None:
        """Read upstreams.toml again."""
        if self._services is not None:
            self._reloading = asyncio.create_task(self._services.reload_upstreams.run_logged())

    def _end(self) -> None:
        """Start draining, once."""
        if not self.should_exit:
            self.handle_exit(signal.SIGTERM, None)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain: reject new runs. A second signal, or Ctrl-C, also ends active runs."""
        is_last = sig == signal.SIGINT or self.should_exit
        super().handle_exit(sig, frame)
        services = self._services
        if services is not None:
            services.runs.is_draining = True
            # With other workers, the port is closed instead, and open connections are still served.
            services.runs.is_closing = is_last or not services.database.is_shared
        if is_last and not self._hurry.is_set():
            self.force_exit = False  # otherwise uvicorn closes the streams before their last events
            self._hurry.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, end the remaining runs as interrupted and flush them, then let uvicorn shut down."""
        # Ends keep-alive, so that no connection is closed during its next request.
        self.server_state.default_headers.append((b"connection", b"close"))
        services = self._services
        if services is not None:
            _log.info("runs.draining", runs=services.runs.active_count)
            shared = services.database.is_shared
            await self._unless_hurried(
                self._hand_over(services.runs, sockets or ()) if shared else services.runs.wait_until_idle()
            )
            await services.runs.aclose()
            if services.runs.store.is_healthy:  # otherwise the store logs it when it closes
                with suppress(StoreError):
                    await services.runs.store.flush()
        if self.metrics_port is not None and services is not None:
            await self.metrics_port.close()
        await super().shutdown(sockets)

    async def _hand_over(self, runs: RunManager, sockets: Sequence[socket.socket]) -> None:
        """Close the port and serve open connections until they are idle; new ones go to the other workers."""
        await close_port(self.servers, sockets)
        is_over = False
        while not is_over:
            await runs.wait_until_idle()
            await until_none(lambda: len(self.server_state.connections))
            is_over = not runs.active_count  # a kept-alive connection may have started another run

    async def _unless_hurried(self, draining: Coroutine[Any, Any, None]) -> None:
        """Drain until the time limit of the settings, or until a second signal."""
        drained, hurried = asyncio.create_task(draining), asyncio.create_task(self._hurry.wait())
        seconds = 0 if self._hurry.is_set() else self._settings.signalbox_drain_seconds
        await asyncio.wait({drained, hurried}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in (drained, hurried):
            task.cancel()
        await asyncio.gather(drained, hurried, return_exceptions=True)

    @property
    def _services(self) -> Services | None:
        return getattr(self._app.state, "services", None)


def token_for(settings: Settings, host: str) -> str | None:
    """Return the token that always grants access, None if none is required; raises SettingsError.

    Listening on an address that other machines reach requires a token.
    """
    for secret in (settings.signalbox_access_token, None if is_loopback(host) else settings.signalbox_admin_token):
        if secret is not None:
            return secret.get_secret_value()
    if is_loopback(host) or settings.signalbox_require_token or has_sign_in(settings):
        return None
    raise SettingsError(
        f"{host} is reachable from other machines, and anyone who reaches it spends your key. "
        "Set SIGNALBOX_ACCESS_TOKEN, or SIGNALBOX_REQUIRE_TOKEN=true and give each user a token "
        "(signalbox token create NAME), or set up sign-in (SIGNALBOX_OIDC_ISSUER), or listen on 127.0.0.1."
    )


def count_of(settings: Settings, workers: int | None) -> int:
    """Return the number of workers; raises SettingsError."""
    count = workers or workers_wanted()
    if count < 1:
        raise SettingsError(f"--workers is {count}. Choose 1 or more.")
    if count > 1 and settings.database_url is None:
        raise SettingsError(SENTENCE)
    return count
