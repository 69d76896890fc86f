"""FastAPI hosts with Signalbox mounted in them, served on a loopback port."""

import logging
import socket
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI
from signalbox.app import SignalboxApp, signalbox_app

from tests.support.running_app import WAIT, StoppableServer, settings_for


def mounted(folder: Path, **settings: Any) -> SignalboxApp:
    """Make a Signalbox for a mount."""
    return signalbox_app(settings_for(folder, **settings))


def host_of(*apps: SignalboxApp, **arguments: Any) -> FastAPI:
    """Make a host whose lifespan runs those of the apps. The caller mounts the apps."""

    @asynccontextmanager
    async def lifespan(host: FastAPI) -> AsyncGenerator[None, None]:
        async with AsyncExitStack() as stack:
            for app in apps:
                await stack.enter_async_context(app.lifespan(host))
            yield

    return FastAPI(lifespan=lifespan, **arguments)


@contextmanager
def serving_host(host: Any, **options: Any) -> Iterator[httpx.Client]:
    """Serve an app with a plain uvicorn until the block ends; yield a client of it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(host, log_config=None, log_level=logging.CRITICAL, access_log=False, **options)
        config.timeout_graceful_shutdown = 2
        server = StoppableServer(config)
        thread = threading.Thread(target=server.run, args=([listener],), name="host", daemon=True)
        thread.start()
        assert server.ready.wait(WAIT), "the host did not start"
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            with httpx.Client(base_url=url, timeout=WAIT, trust_env=False, verify=False) as client:
                yield client
        finally:
            server.stop()
            thread.join(WAIT)
            assert not thread.is_alive()
