"""An app whose only upstream is the simulator's Gemini API, on each loop."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from signalbox.chat.loops.retry import Retry
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.native.gemini.gemini_runs import GeminiRuns
from tests.support.running_app import RunningApp, settings_for

FILE = """\
[[upstream]]
name = "gemini"
dialect = "gemini"
base_url = "http://{host}:{port}/gemini"
key = "env:GEMINI_CANARY"
rename = {{ "google/*" = "*" }}
timeout = 2
"""
KEY = "canary-key-of-gemini"


@pytest.fixture(scope="session")
def gemini_app(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Run one app for all tests of this folder."""
    folder = tmp_path_factory.mktemp("gemini")
    file = folder / "upstreams.toml"
    file.write_text(FILE.format(host=simulator.host, port=simulator.port), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEMINI_CANARY", KEY)
        made = settings_for(folder / "data", signalbox_upstreams=Path(file))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEMINI_CANARY", KEY)
        app = RunningApp(made)
    with app as running:
        yield running


@pytest.fixture(params=["v2", "legacy"])
def gemini(
    request: pytest.FixtureRequest, gemini_app: RunningApp, simulator: BackgroundSimulator, no_waiting: list[Retry]
) -> GeminiRuns:
    """Ask Gemini models on each loop, without retry delays."""
    loop: Any = request.param
    return GeminiRuns(gemini_app, simulator, loop)
