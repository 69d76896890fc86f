"""The app over HTTP, over the simulator or a scripted provider, on either loop."""

from collections.abc import Iterator

import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.quirks.sim_runs import Asker
from tests.support.running_app import RunningApp, settings_for


@pytest.fixture(scope="session")
def sim_app(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Run one app over the simulator that takes the loop from a request header."""
    data = tmp_path_factory.mktemp("sim_app")
    with RunningApp(
        settings_for(data, openrouter_base_url=simulator.base_url, signalbox_allow_loop_header=True)
    ) as running:
        yield running


@pytest.fixture(params=["v2", "legacy"])
def ask_sim(request: pytest.FixtureRequest, sim_app: RunningApp, simulator: BackgroundSimulator) -> Asker:
    """Ask the simulator through the app, once per loop: `ask_sim(model, prompt, …)`."""
    return Asker(sim_app, simulator, request.param)
