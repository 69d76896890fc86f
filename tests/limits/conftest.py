"""The app over HTTP with limits, and requests that come from users of their own."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from fastapi import Header
from signalbox.app import access
from signalbox.app.access import Who

from tests.support.fixtures import Behind, app, behind, no_waiting, simulator
from tests.support.serving import RunningApp
from tests.support.upstream import Script, ScriptedUpstream

__all__ = ["app", "behind", "no_waiting", "simulator"]

Among = Callable[..., tuple[RunningApp, ScriptedUpstream]]


async def _named(x_user: Annotated[str, Header()] = "") -> Who:
    return Who(owner=x_user)


@pytest.fixture
def among(behind: Behind) -> Among:
    """Run an app whose requests say in a header whose they are: `among(script, …, signalbox_max_runs_per_user=1)`."""

    def start(*scripts: Script, **settings: Any) -> tuple[RunningApp, ScriptedUpstream]:
        running, upstream = behind(*scripts, settings=settings)
        running.app.dependency_overrides[access._who] = _named
        return running, upstream

    return start
