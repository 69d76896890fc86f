"""A client of the simulator's Gemini API."""

from collections.abc import Iterator

import httpx
import pytest
from signalbox.simulator.http.server import BackgroundSimulator


@pytest.fixture
def gemini(simulator: BackgroundSimulator) -> Iterator[httpx.Client]:
    """Return a client with a key."""
    base_url = f"http://{simulator.host}:{simulator.port}/gemini/v1beta"
    with httpx.Client(base_url=base_url, timeout=10, headers={"x-goog-api-key": "any"}, verify=False) as connected:
        yield connected
