"""The port of metrics: a second small server in the process, or in each of several workers, on one shared socket."""

import logging
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from signalbox.app.config import Settings
from signalbox.app.metrics.scrape import MetricsApp


class MetricsPort:
    """Serves the metrics on a socket, on the event loop of the public server and without its limits."""

    def __init__(self, app: FastAPI, settings: Settings, listener: socket.socket) -> None:
        token = settings.signalbox_metrics_token
        self._sockets = [listener]
        scraped = MetricsApp(app.state.metrics, token.get_secret_value() if token else None)
        config = uvicorn.Config(
            scraped,
            lifespan="off",
            log_config=None,
            log_level=logging.WARNING,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        config.load()
        self._server = uvicorn.Server(config)
        self._server.lifespan = config.lifespan_class(config)

    async def open(self) -> None:
        """Start to answer."""
        await self._server.startup(self._sockets)

    def stop_listening(self) -> None:
        """Leave the port to a successor; requests that are being answered continue."""
        for one in (*self._server.servers, *self._sockets):
            one.close()

    async def close(self) -> None:
        """Stop to answer."""
        await self._server.shutdown(self._sockets)


@contextmanager
def shared_metrics(settings: Settings) -> Generator[Callable[[int], None]]:
    """Add up the metrics of the workers that are started in this block; yields what to call when a worker has died."""
    if not settings.has_metrics:
        yield _ignore
        return
    from signalbox.metrics.worker_files import shared_by_workers

    with shared_by_workers() as files:
        yield files.absorb


def _ignore(pid: int) -> None:
    """Ignore the death of a worker: it has left no metrics."""
