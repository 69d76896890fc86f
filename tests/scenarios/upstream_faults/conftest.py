"""Asking faulty models without retry delays."""

import pytest
from signalbox.chat.loops.retry import Retry
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.upstream_faults.asker import Asker
from tests.support.running_app import RunningApp


@pytest.fixture
def ask(app: RunningApp, simulator: BackgroundSimulator, no_waiting: list[Retry]) -> Asker:
    """Ask through the app, without retry delays."""
    return Asker(app, simulator)
