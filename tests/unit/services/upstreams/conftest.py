"""Makes upstreams from the text of upstreams.toml. They connect to nothing."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from signalbox.services.upstreams.file import parse_upstreams
from signalbox.services.upstreams.registry import Upstreams
from signalbox.services.upstreams.server import Defaults, connect

MakeUpstreams = Callable[[str], Upstreams]


@pytest.fixture
async def make_upstreams(tmp_path: Path) -> AsyncIterator[MakeUpstreams]:
    """Make the upstreams of a file."""
    async with AsyncExitStack() as stack:

        def made(text: str) -> Upstreams:
            file = parse_upstreams(text.encode(), "upstreams.toml")
            defaults = Defaults(
                connect_timeout=1, idle_timeout=1, progress_timeout=1, max_connections=2, folder=tmp_path
            )
            upstreams = Upstreams([connect(entry, "key", defaults) for entry in file.upstream], file.route)
            stack.push_async_callback(upstreams.aclose)
            return upstreams

        yield made
