"""A port that accepts connections and never answers."""

import socket
from collections.abc import Iterator

import pytest


@pytest.fixture
def silent() -> Iterator[int]:
    """Listen on a port, accept connections in the kernel, and never answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]
