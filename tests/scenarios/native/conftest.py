"""Apps over the simulator's native APIs."""

from collections.abc import Iterator

import pytest
from signalbox.chat.loops.retry import Retry
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.native.native_runs import NativeAsker, app_over
from tests.support.running_app import RunningApp


@pytest.fixture(scope="session")
def anthropic_app(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Run one app over the Messages API for all tests."""
    folder = tmp_path_factory.mktemp("anthropic")
    made = app_over(simulator, folder, dialect="anthropic-messages", base="/anthropic", family="anthropic")
    with made as running:
        yield running


@pytest.fixture
def ask_claude(anthropic_app: RunningApp, simulator: BackgroundSimulator, no_waiting: list[Retry]) -> NativeAsker:
    """Ask Claude's models without retry delays."""
    return NativeAsker(anthropic_app, simulator, "/anthropic/v1/messages", "anthropic")
