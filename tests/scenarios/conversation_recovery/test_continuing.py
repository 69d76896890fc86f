"""Continuing a cut answer over HTTP in every family and both loops: the strict models accept the request."""

import secrets
from typing import Any

import pytest
from signalbox.conversations.continuing import appended
from signalbox.core.conversations import Answer
from signalbox.core.events import LoopName
from signalbox.simulator.faults.steps import PARAGRAPH
from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.simulator.model.continuation import DOCUMENT

from tests.scenarios.conversation_recovery.cut_runs import FAMILIES
from tests.support.running_app import RunningApp
from tests.support.stream_reader import ParsedStream, check_stream

LOOPS: tuple[LoopName, ...] = ("v2", "legacy")
CUT = Answer("length", "LENGTH", "m", "v2")


class Growing:
    """One answer that is continued until it is complete."""

    def __init__(self, app: RunningApp, model: str, loop: LoopName, **body: Any) -> None:
        self.app, self.text = app, ""
        self._shared = {"model": model, "conversation_id": secrets.token_hex(8), **body}
        self._headers = {"x-tool-loop": loop}
        self.runs: list[str] = []

    def ask(self, **body: Any) -> ParsedStream:
        """Ask or continue, and append the new text."""
        sent = {**self._shared, **body}
        response = self.app.client.post("/api/chat/stream", json=sent, headers=self._headers)
        assert response.status_code == 200, response.text
        answer = check_stream(response.content)
        self.runs.append(response.headers["x-run-id"])
        self.text += appended(CUT, self.text, answer.text)
        return answer

    def go_on(self, **body: Any) -> ParsedStream:
        """Continue the newest run."""
        return self.ask(**{"continue": True, "parent_id": self.runs[-1], **body})


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("fault", ["sim-length-document", "sim-length-repeat"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_document_cut_three_times_is_whole(app: RunningApp, family: str, fault: str, loop: LoopName) -> None:
    """A document that was cut in code, a table and a list is whole, even if the model repeats its last line."""
    answer = Growing(app, f"{family}/{fault}", loop, tools=[], reasoning={"effort": "low"})
    ends = [answer.ask(prompt="Write it down").done, *(answer.go_on().done for _ in range(3))]
    assert [end["status"] for end in ends] == ["length", "length", "length", "complete"]
    assert answer.text == "".join(DOCUMENT)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.usefixtures("no_waiting")
def test_an_answer_cut_behind_its_tools_goes_on(app: RunningApp, family: str, loop: LoopName) -> None:
    """Text that a length limit cut after a search continues without another search."""
    question = "How do tool calls stream?"
    whole = Growing(app, f"{family}/sim", loop)
    whole.ask(prompt=question)
    answer = Growing(app, f"{family}/sim", loop)
    first = answer.ask(prompt=question, max_tokens=90)
    assert first.done["status"] == "length"
    assert first.of("tool_result")
    more = answer.go_on()
    assert more.done["status"] == "complete"
    assert not more.of("tool_calls")
    assert answer.text == whole.text


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.usefixtures("no_waiting")
def test_a_run_that_broke_in_its_tools_goes_on_from_their_results(app: RunningApp, family: str, loop: LoopName) -> None:
    """A run that was cut after its calls, before any text, continues from the results."""
    answer = Growing(app, f"{family}/sim-steps-2", loop, max_steps=2)
    first = answer.ask(prompt="Search for the tool loop")
    assert first.of("tool_result")
    more = answer.go_on(model=f"{family}/sim")
    assert more.done["status"] == "complete"


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.usefixtures("no_waiting")
def test_a_cut_connection_goes_on(app: RunningApp, simulator: BackgroundSimulator, loop: LoopName) -> None:
    """The model continues from the received text; the instruction is the last message and a user message (quirk C6)."""
    answer = Growing(app, "anthropic/sim-cut", loop, tools=[])
    first = answer.ask(prompt="Tell me")
    assert first.done["status"] == "interrupted"
    assert PARAGRAPH.startswith(first.text)
    answer.go_on()
    assert PARAGRAPH.startswith(answer.text)
    assert len(answer.text) > len(first.text)
    asked = simulator.state.requests[-1].body["messages"]
    assert [message["role"] for message in asked][-3:] == ["user", "assistant", "user"]
