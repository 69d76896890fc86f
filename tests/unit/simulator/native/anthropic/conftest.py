"""A client of the simulator's Messages API."""

from collections.abc import Iterator

import httpx
import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.unit.simulator.native.anthropic.conversation import connect


@pytest.fixture
def claude(simulator: BackgroundSimulator) -> Iterator[httpx.Client]:
    """Return a client of the Messages API."""
    with connect(simulator) as connected:
        yield connected
