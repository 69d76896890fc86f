"""The app over HTTP with limits, and requests of different users."""

from collections.abc import Callable
from typing import Any

import pytest
from signalbox.app.access import CALLER, Caller
from signalbox.app.asgi.security import AccessControl
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import Script, ScriptedUpstream

Among = Callable[..., tuple[RunningApp, ScriptedUpstream]]


def _name_users(app: RunningApp) -> None:
    """Set the user of a request after authentication, as routes expect it."""
    gate: Any = app.app.middleware_stack
    while not isinstance(gate, AccessControl):
        gate = gate.app if hasattr(gate, "app") else gate._app
    inner = gate._app

    async def named(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope[CALLER] = Caller(owner=Headers(scope=scope).get("x-user", ""))
        await inner(scope, receive, send)

    gate._app = named


@pytest.fixture
def among(start_app: StartApp) -> Among:
    """Run an app whose requests name their user in a header: `among(script, …, signalbox_max_runs_per_user=1)`."""

    def start(*scripts: Script, **settings: Any) -> tuple[RunningApp, ScriptedUpstream]:
        running, upstream = start_app(*scripts, settings=settings)
        _name_users(running)
        return running, upstream

    return start
