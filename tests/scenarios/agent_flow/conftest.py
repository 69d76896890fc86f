"""Fixtures that play an agent flow on both loops."""

from typing import Any

import pytest
from signalbox.core.events import LoopName

from tests.scenarios.agent_flow.flow import Flow, Flows, start
from tests.scenarios.tool_loop.conftest import loop, waits
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import Script

__all__ = ["loop", "waits"]


@pytest.fixture
def flow(loop: LoopName, start_app: StartApp, waits: list[float]) -> Flows:
    """Start a flow: `flow(script, …, extra_tools=[…])`."""

    def begin(*scripts: Script, **given: Any) -> Flow:
        return start(loop, start_app, *scripts, **given)

    return begin
