"""The simulator as the tests meet it: on a loopback port, over HTTP."""

from collections.abc import Iterator

import httpx
import pytest
from signalbox.simulator.http.server import BackgroundSimulator


@pytest.fixture(scope="session")
def simulator() -> Iterator[BackgroundSimulator]:
    """Run one simulator for all tests that do not need one of their own."""
    with BackgroundSimulator() as running:
        yield running


@pytest.fixture
def client(simulator: BackgroundSimulator) -> Iterator[httpx.Client]:
    """Give a client that is pointed at the simulator."""
    with httpx.Client(base_url=simulator.base_url, timeout=10) as connected:
        yield connected
