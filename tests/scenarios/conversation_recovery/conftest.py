"""The app over HTTP, over the simulator or a scripted provider."""

import asyncio
from collections.abc import Iterator

import pytest
from signalbox.core.messages import JsonObject
from signalbox.core.tools import ToolContext
from signalbox.services.catalog import ModelCatalog
from signalbox.simulator.http.server import BackgroundSimulator
from structlog.testing import capture_logs

from tests.support.fakes import make_tool
from tests.support.running_app import RunningApp, settings_for


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Keep log lines of runs that fail on purpose out of failure reports."""
    with capture_logs():
        yield


@pytest.fixture(scope="session")
def app(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Run one app over the simulator; each request selects its loop."""
    settings = settings_for(
        tmp_path_factory.mktemp("going_on"), openrouter_base_url=simulator.base_url, signalbox_allow_loop_header=True
    )
    with RunningApp(settings, extra_tools=EXTRA) as running:
        catalog = running.parts.catalog
        assert isinstance(catalog, ModelCatalog)
        catalog.by_family = True  # ids with a number in them (sim-cut-500) are not listed
        yield running


async def never(arguments: JsonObject, context: ToolContext) -> None:
    """Work until cancelled."""
    await asyncio.Event().wait()


def much(arguments: JsonObject, context: ToolContext) -> str:
    """Return more than a small context window holds."""
    return MUCH


MUCH = "So much to say. " * 500
NOTHING: JsonObject = {"type": "object", "properties": {}}
EXTRA = [make_tool("wait_here", never, parameters=NOTHING), make_tool("tell_much", much, parameters=NOTHING)]
