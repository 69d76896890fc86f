"""A client of the simulator's OpenAI API."""

from collections.abc import Iterator

import httpx
import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.unit.simulator.native.openai.conversation import connect


@pytest.fixture
def openai(simulator: BackgroundSimulator) -> Iterator[httpx.Client]:
    """Return a client of OpenAI's API."""
    with connect(simulator) as connected:
        yield connected
