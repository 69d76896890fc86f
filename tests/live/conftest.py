"""The upstreams of the tests: always the simulator, and the real OpenRouter with a key and on request."""

import os
from collections.abc import Iterator

import pytest
from signalbox.core.events import LoopName

from tests.live.loop_client import LoopClient
from tests.support.running_app import RunningApp, settings_for

UPSTREAMS = ["simulator", pytest.param("openrouter", marks=pytest.mark.live)]


@pytest.fixture(scope="session", params=UPSTREAMS)
def upstream_app(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Run an app with this upstream. OpenRouter costs money, so it needs a key and SIGNALBOX_LIVE=1."""
    key = None
    if request.param == "openrouter":
        key = os.environ.get("OPENROUTER_API_KEY")
        if not key or os.environ.get("SIGNALBOX_LIVE") != "1":
            pytest.skip("requires OPENROUTER_API_KEY and SIGNALBOX_LIVE=1")
    data = tmp_path_factory.mktemp("live")
    settings = settings_for(
        data, openrouter_api_key=key, tool_loop_v2=None, signalbox_allow_loop_header=True, search_backend="docs"
    )
    with RunningApp(settings) as app:
        yield app


@pytest.fixture(params=["v2", "legacy"])
def loop(request: pytest.FixtureRequest) -> LoopName:
    """Return the loop of this test."""
    return request.param


@pytest.fixture
def client(upstream_app: RunningApp, loop: LoopName) -> LoopClient:
    """Return a client for this upstream and loop."""
    return LoopClient(upstream_app, loop)
