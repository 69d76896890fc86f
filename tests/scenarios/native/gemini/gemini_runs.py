"""Runs over the simulator's Gemini API, with the requests that it received."""

from dataclasses import dataclass
from typing import Any

from signalbox.simulator.http.server import BackgroundSimulator

from tests.support.running_app import RunningApp
from tests.support.stream_reader import ParsedStream, check_stream

QUESTION = "Search for the tool loop"
Json = dict[str, Any]


@dataclass(frozen=True)
class GeminiRuns:
    """Sends questions to one app on one loop."""

    app: RunningApp
    simulator: BackgroundSimulator
    loop: str

    def __call__(self, model: str, prompt: str = QUESTION, **body: Any) -> tuple[ParsedStream, list[Json]]:
        """Send a question; return the run and the bodies of its upstream requests."""
        self.simulator.state.requests.clear()
        text = {} if "messages" in body else {"prompt": prompt}
        response = self.app.client.post(
            "/api/chat/stream",
            json={"model": f"google/{model}", **text, **body},
            headers={"x-tool-loop": self.loop},
        )
        assert response.status_code == 200, response.text
        assert response.headers["x-tool-loop"] == self.loop
        received = [one for one in self.simulator.state.requests if one.path.endswith("Content")]
        assert all(one.authorized for one in received)
        return check_stream(response.content), [one.body for one in received]


def parts(body: Json, role: str) -> list[list[Json]]:
    """Return the parts of the contents of a role."""
    return [content["parts"] for content in body["contents"] if content["role"] == role]


def signatures(body: Json) -> list[str]:
    """Return all thought signatures of a request, in order."""
    return [part["thoughtSignature"] for turn in parts(body, "model") for part in turn if "thoughtSignature" in part]
