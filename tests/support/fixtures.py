"""Fixtures for tests of the app over HTTP, with the simulator or a scripted provider as its upstream."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from signalbox.chat.loops import state
from signalbox.chat.loops.retry import Retry, should_retry
from signalbox.simulator.http.server import BackgroundSimulator

from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import Script, ScriptedUpstream

StartApp = Callable[..., tuple[RunningApp, ScriptedUpstream]]


@pytest.fixture(scope="session")
def simulator() -> Iterator[BackgroundSimulator]:
    """Run one simulator whose catalogue includes the fault models."""
    with BackgroundSimulator() as running:
        yield running


@pytest.fixture(scope="module")
def app(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Run one app over the simulator, shared by the tests of a file that need no other settings."""
    settings = settings_for(tmp_path_factory.mktemp("data"), openrouter_base_url=simulator.base_url)
    with RunningApp(settings) as running:
        yield running


@pytest.fixture
def start_app(tmp_path: Path) -> Iterator[StartApp]:
    """Run apps over scripted providers: `start_app(script, …, settings={…})`; each app has a separate data folder."""
    folders = (tmp_path / ("data" if number == 1 else f"data-{number}") for number in count(1))
    with ExitStack() as stack:

        def start(
            *scripts: Script,
            models: Script | None = None,
            path: str = "/api/v1",
            settings: dict[str, Any] | None = None,
            **app_settings: Any,
        ) -> tuple[RunningApp, ScriptedUpstream]:
            upstream = stack.enter_context(ScriptedUpstream(*scripts, models=models, path=path))
            made = settings_for(next(folders), openrouter_base_url=upstream.base_url, **(settings or {}))
            return stack.enter_context(RunningApp(made, **app_settings)), upstream

        yield start


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[Retry]:
    """Set the delays of retries to zero; return the list of delays that were requested."""
    asked: list[Retry] = []

    def at_once(*arguments: Any) -> Retry | None:
        retry = should_retry(*arguments)
        if retry is None:
            return None
        asked.append(retry)
        return Retry(0.0)

    monkeypatch.setattr(state, "should_retry", at_once)
    return asked
