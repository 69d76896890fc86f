"""The simulator on a loopback port, and a client for it."""

from collections.abc import Iterator

import httpx
import pytest
from signalbox.simulator.http.server import BackgroundSimulator


@pytest.fixture(scope="session")
def simulator() -> Iterator[BackgroundSimulator]:
    """Run one simulator for all tests that do not need a separate one."""
    with BackgroundSimulator() as running:
        yield running


@pytest.fixture
def client(simulator: BackgroundSimulator) -> Iterator[httpx.Client]:
    """Return a client of the simulator."""
    with httpx.Client(base_url=simulator.base_url, timeout=10, verify=False) as connected:
        yield connected
