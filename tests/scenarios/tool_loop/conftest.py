"""Fixtures that run every scenario on both loops."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from signalbox.chat.loops import state
from signalbox.chat.loops.retry import Retry, should_retry
from signalbox.core.events import LoopName

from tests.scenarios.tool_loop.scenario import Scenario, Scenarios, finds
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import Script, ScriptedUpstream


@pytest.fixture(params=["v2", "legacy"])
def loop(request: pytest.FixtureRequest) -> LoopName:
    """Return the loop of this test."""
    return request.param


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Set the delays of both loops' retries to zero; return the list of delays that were requested."""
    asked: list[float] = []

    def at_once(*arguments: Any) -> Retry | None:
        retry = should_retry(*arguments)
        if retry is None:
            return None
        asked.append(retry.wait)
        return Retry(0.0)

    monkeypatch.setattr(state, "should_retry", at_once)
    return asked


@pytest.fixture
def scenario(loop: LoopName, start_app: StartApp, waits: list[float]) -> Iterator[Scenarios]:
    """Start a scenario: `scenario(script, …, settings={…})`."""
    with ExitStack() as stack:

        def start(
            *scripts: Script, search: Script = finds, settings: dict[str, Any] | None = None, **app: Any
        ) -> Scenario:
            engine = stack.enter_context(ScriptedUpstream(models=search, path=""))
            made = {"tool_loop_v2": loop == "v2", "searxng_url": engine.base_url, **(settings or {})}
            running, upstream = start_app(*scripts, settings=made, **app)
            return Scenario(loop, running, upstream, engine)

        yield start
