"""Two upstreams for one matrix: the simulator always, the real OpenRouter with a key and on request."""

import os
from collections.abc import Iterator

import pytest
from signalbox.core.events import LoopName

from tests.live.loop_client import LoopClient
from tests.support.running_app import RunningApp, settings_for

UPSTREAMS = ["simulator", pytest.param("openrouter", marks=pytest.mark.live)]


@pytest.fixture(scope="session", params=UPSTREAMS)
def upstream_app(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Run one app over this upstream; the real one costs money, so it takes a key and SIGNALBOX_LIVE=1."""
    key = None
    if request.param == "openrouter":
        key = os.environ.get("OPENROUTER_API_KEY")
        if not key or os.environ.get("SIGNALBOX_LIVE") != "1":
            pytest.skip("asks the real OpenRouter only with OPENROUTER_API_KEY and SIGNALBOX_LIVE=1")
    data = tmp_path_factory.mktemp("live")
    settings = settings_for(
        data, openrouter_api_key=key, tool_loop_v2=None, signalbox_allow_loop_header=True, search_backend="docs"
    )
    with RunningApp(settings) as app:
        yield app


@pytest.fixture(params=["v2", "legacy"])
def loop(request: pytest.FixtureRequest) -> LoopName:
    """Name the loop of this test."""
    return request.param


@pytest.fixture
def client(upstream_app: RunningApp, loop: LoopName) -> LoopClient:
    """Ask this upstream by this loop."""
    return LoopClient(upstream_app, loop)
