"""Signalbox as a part of another ASGI app; docs/embedding.md describes it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import cast

import structlog
from fastapi import FastAPI
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from signalbox.app.asgi.host_users import HOST_APP, HostUsers, OwnerOf
from signalbox.app.asgi.streaming import NEEDS_TASK
from signalbox.app.config import Settings
from signalbox.app.deps import Services
from signalbox.app.main import create_app
from signalbox.core.tools import Tool

_SIMULATED = "OPENROUTER_API_KEY is not set, so the answers come from the simulator."

_log = structlog.get_logger()


class SignalboxApp:
    """An ASGI app to mount at any path of a host. The host runs `lifespan`, which starts and stops the services."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._is_running = False

    @asynccontextmanager
    async def lifespan(self, host: object = None) -> AsyncGenerator[None, None]:
        """Run the services until the block ends: `FastAPI(lifespan=chat.lifespan)`, or inside the host's own lifespan.

        At the end, active runs may finish within `SIGNALBOX_DRAIN_SECONDS`. Then the others end as interrupted, and
        everything is written to disk. Raises SettingsError.
        """
        if self._is_running:
            raise RuntimeError("This Signalbox is running already. Use its lifespan once.")
        async with self._app.router.lifespan_context(self._app):
            services: Services = self._app.state.services
            if services.is_simulated:  # `signalbox serve` prints it
                _log.warning("upstream.simulated", reason=_SIMULATED)
            self._is_running = True
            try:
                yield
                await _drain(services)
            finally:
                self._is_running = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; raises RuntimeError outside of `lifespan`."""
        if scope["type"] == "lifespan":  # served without a host
            await Router(lifespan=self.lifespan).lifespan(scope, receive, send)
            return
        if not self._is_running:
            raise RuntimeError(
                "This Signalbox is not running: a mounted app is not started by its host. "
                "Pass its lifespan to the host: FastAPI(lifespan=chat.lifespan)."
            )
        scope[NEEDS_TASK] = True
        scope[HOST_APP] = scope.get("app")
        await self._app(scope, receive, send)


def signalbox_app(
    settings: Settings | None = None, *, tools: Sequence[Tool] = (), owner_of: OwnerOf | None = None
) -> SignalboxApp:
    """Make a Signalbox to mount in another app, with `tools` added to the built-in ones.

    By default, the settings come from the environment and `.env`. `owner_of` is called for each request that has no
    token of Signalbox. It returns the id of the user, or None to reject the request, and may be async. Raises
    SettingsError for invalid settings, and TypeError for another invalid argument.
    """
    _check_arguments(settings, tools, owner_of)
    host_user = None if owner_of is None else HostUsers(owner_of).caller_of
    return SignalboxApp(create_app(settings, extra_tools=tools, is_embedded=True, host_user=host_user))


async def _drain(services: Services) -> None:
    """Reject new runs, and let active ones finish within the grace period of the settings."""
    services.runs.is_draining = services.runs.is_closing = True
    if services.runs.active_count:
        _log.info("runs.draining", runs=services.runs.active_count)
        with suppress(TimeoutError):
            async with asyncio.timeout(services.settings.signalbox_drain_seconds):
                await services.runs.wait_until_idle()


def _check_arguments(settings: object, tools: object, owner_of: object) -> None:
    """Raise TypeError for arguments that would fail only at the start, far from the call."""
    if not isinstance(settings, Settings | None):
        raise TypeError(f"settings: expected Settings(...), got {type(settings).__name__}")
    if not isinstance(tools, Sequence):
        raise TypeError(f"tools: expected a list of tools, as @tool makes them, got {type(tools).__name__}")
    for place, tool in enumerate(cast("Sequence[object]", tools)):
        if not isinstance(tool, Tool):
            raise TypeError(f"tools[{place}]: expected a tool, as @tool makes one, got {type(tool).__name__}")
    if owner_of is not None and not callable(owner_of):
        raise TypeError(f"owner_of: expected a function that takes a request, got {type(owner_of).__name__}")
