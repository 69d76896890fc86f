"""An app that speaks the protocol of tests, over the simulator."""

from collections.abc import Iterator

import pytest
from signalbox.app.protocols import PROTOCOLS
from signalbox.core.ask import Ask
from signalbox.core.messages import Message, UserMessage
from signalbox.core.params import Params, Reasoning
from signalbox.core.parts import ToolSchema
from signalbox.simulator.http.server import BackgroundSimulator

from tests.support.ask_protocol import AskClient
from tests.support.running_app import RunningApp, settings_for

CLOCK = ToolSchema(
    "wall_clock",
    "Read the clock on the user's wall.",
    {"type": "object", "properties": {"timezone": {"type": "string", "description": "A zone."}}, "required": []},
)
QUESTION = UserMessage("What is 6 * 7, what time is it in Tokyo, and how do tool calls stream?")
OURS = ("calculate", "search_web")


def asking(model: str, *more: Message) -> Ask:
    """Ask a question that needs the client's clock and our tools in one step."""
    params = Params(reasoning=Reasoning(effort="high"))
    return Ask(model=model, messages=(QUESTION, *more), client_tools=(CLOCK,), params=params)


@pytest.fixture(scope="module")
def client() -> AskClient:
    """Return the client of the protocol."""
    return AskClient()


@pytest.fixture(scope="module")
def served(
    simulator: BackgroundSimulator, client: AskClient, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningApp]:
    """Run the app."""
    data = tmp_path_factory.mktemp("data")
    settings = settings_for(data, openrouter_base_url=simulator.base_url, signalbox_allow_loop_header=True)
    with RunningApp(settings, protocols=(*PROTOCOLS, client.protocol)) as running:
        yield running
