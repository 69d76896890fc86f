"""Asks faulty models of the simulator, and checks how their runs end."""

import re
from typing import Any

from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.simulator.http.state import Received

from tests.support.running_app import RunningApp
from tests.support.stream_reader import ParsedStream

ASKED = "What is the tool loop of Signalbox?"
# The upstream's message may follow ours, with or without a full stop.
_SENTENCE_FIRST = re.compile(r"[A-Z][^.…!]+[.…!](?: |$)")


class Asker:
    """Asks a faulty model and counts the upstream requests."""

    def __init__(self, app: RunningApp, simulator: BackgroundSimulator) -> None:
        self.app, self.simulator = app, simulator

    def __call__(self, fault: str, **body: Any) -> tuple[ParsedStream, list[Received]]:
        known = {id(request) for request in self.simulator.state.requests}
        heard = self.app.ask(ASKED, model=fault if "/" in fault else f"openai/{fault}", **body)
        assert self.simulator.wait_until(lambda state: state.open_streams == 0)
        new = [request for request in self.simulator.state.requests if id(request) not in known]
        return heard, [request for request in new if request.path.endswith("/completions")]


def ended(heard: ParsedStream, status: str, code: str | None) -> None:
    """Check the ending, also with a client that knows only the minimum."""
    done = heard.done
    assert (done["status"], done.get("code")) == (status, code)
    if code is None:
        assert "error" not in done
        return
    assert _SENTENCE_FIRST.match(done["error"]), done
    last = heard.events[-2]
    assert (last["type"], last["code"]) == ("warning", code)
    assert len(last["message"]) >= len(done["error"])
