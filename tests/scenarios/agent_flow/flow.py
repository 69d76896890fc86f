"""A conversation with the file tools: its questions, and the results that people and the model get."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from signalbox.core.events import LoopName

from tests.scenarios.conversations.conversation_client import Answered, ConversationClient
from tests.scenarios.tool_loop.scenario import results_of
from tests.scenarios.tool_loop.script import Called
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import Script

FILE_TOOLS = ["create_file", "edit_file", "read_file", "list_files", "retrieve_option"]
PAGE = "<h1>One</h1>\n<p>two</p>\n<p>two</p>\n"


def create(path: str = "index.html", content: str = PAGE, **more: Any) -> Called:
    """Return a call of create_file."""
    return called("create_file", path=path, content=content, **more)


def called(name: str, **arguments: Any) -> Called:
    """Return a call with arguments."""
    return Called(name, json.dumps(arguments))


@dataclass
class Flow:
    """A conversation on one of the loops."""

    loop: LoopName
    talk: ConversationClient

    def ask(self, prompt: str | None = "Build a page.", **body: Any) -> Answered:
        """Send a question with the file tools, and check which loop ran it."""
        answered = self.talk.ask(prompt, **{"tools": FILE_TOOLS, **body})
        assert answered.heard.done["loop"] == self.loop
        return answered

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [asked.body for asked in self.talk.upstream.asked]

    def results(self, place: int = -1) -> list[Any]:
        """Return the results in a request to the provider, as the model reads them."""
        return [json.loads(text) for text in results_of(self.bodies[place]).values()]


def start(loop: LoopName, start_app: StartApp, *scripts: Script, **given: Any) -> Flow:
    """Start the app with one of its loops."""
    app, upstream = start_app(*scripts, settings={"tool_loop_v2": loop == "v2"}, **given)
    return Flow(loop, ConversationClient(app, upstream))


Flows = Callable[..., Flow]


def outcomes(answered: Answered) -> list[dict[str, Any]]:
    """Return the results that clients receive, in the order of their calls."""
    heard = answered.heard
    results = {event["id"]: event for event in heard.of("tool_result")}
    return [results[call["id"]] for call in heard.calls]
