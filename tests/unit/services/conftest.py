"""Fixtures of the services' tests."""

import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from signalbox.services.http.client import HttpClient
from signalbox.services.upstream import UpstreamClient
from signalbox.wire.dialects import upstream_at

from tests.support.scripted_upstream import Script, ScriptedUpstream
from tests.unit.services.scripted_client import KEY, Start


@pytest.fixture(scope="module")
def older_objects_frozen() -> None:
    """Exclude the objects of earlier tests from garbage collection, which otherwise takes up to half a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def nothing_left_open(older_objects_frozen: None) -> Iterator[None]:
    """Collect garbage, so that an open socket warns in the test that left it."""
    yield
    gc.collect()


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Connect a client to a scripted provider: `start(script, …)`."""
    async with AsyncExitStack() as stack:

        def started(*scripts: Script, models: Script | None = None, path: str = "/api/v1", idle: float = 5) -> Any:
            upstream = stack.enter_context(ScriptedUpstream(*scripts, models=models, path=path))
            client = HttpClient(connect_timeout=2, idle_timeout=idle)
            stack.push_async_callback(client.aclose)
            where = upstream_at(upstream.base_url + "/", KEY, referer="https://me.example", title="Me")
            return UpstreamClient(client, where), upstream

        yield started
