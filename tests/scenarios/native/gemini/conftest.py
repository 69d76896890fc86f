"""An app whose only upstream is the simulator's Gemini API, on each loop."""

from collections.abc import Iterator

import pytest
from signalbox.chat.loops.retry import Retry
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.native.gemini.gemini_runs import GeminiRuns
from tests.scenarios.native.native_runs import LOOPS, app_over
from tests.support.running_app import RunningApp


@pytest.fixture(scope="session")
def gemini_app(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Run one app for all tests of this folder."""
    folder = tmp_path_factory.mktemp("gemini")
    with app_over(simulator, folder, dialect="gemini", base="/gemini", family="google", timeout=2) as running:
        yield running


@pytest.fixture(params=LOOPS)
def gemini(
    request: pytest.FixtureRequest, gemini_app: RunningApp, simulator: BackgroundSimulator, no_waiting: list[Retry]
) -> GeminiRuns:
    """Ask Gemini models on each loop, without retry delays."""
    return GeminiRuns(gemini_app, simulator, str(request.param))
