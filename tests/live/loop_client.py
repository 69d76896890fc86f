"""A client that runs questions with one tool loop on one upstream, with timeouts that suit a real provider."""

from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from signalbox.core.events import LoopName

from tests.support.running_app import RunningApp
from tests.support.stream_reader import ParsedStream, check_stream

TIMEOUT = 180.0


@dataclass(frozen=True)
class LoopClient:
    """A client of an app; its runs use one tool loop."""

    app: RunningApp
    loop: LoopName

    @property
    def is_simulated(self) -> bool:
        return self.app.parts.is_simulated

    def post(self, model: str, prompt: str, **body: Any) -> httpx.Response:
        """Send a question and return the response."""
        request = {"model": model, "prompt": prompt, **body}
        return httpx.post(
            f"{self.app.url}/api/chat/stream",
            json=request,
            headers={"x-tool-loop": self.loop},
            timeout=TIMEOUT,
            trust_env=False,
        )

    def ask(self, model: str, prompt: str, **body: Any) -> ParsedStream:
        """Ask, check the stream against the contract, and check the model and the loop of `done`."""
        response = self.post(model, prompt, **body)
        if not self.is_simulated and response.status_code != 200 and "UNKNOWN_MODEL" in response.text:
            pytest.skip(f"OpenRouter no longer lists {model}")
        assert response.status_code == 200, response.text
        stream = check_stream(response.content)
        done = stream.done
        assert (done["loop"], done["requested_model"]) == (self.loop, model)
        assert done["flag"] == {"variant": self.loop, "reason": "TARGETING_MATCH"}
        assert done.get("simulated", False) is self.is_simulated
        return stream

    def ask_complete(self, model: str, prompt: str, **body: Any) -> ParsedStream:
        """Ask, and check that the answer is complete, with usage and cost."""
        stream = self.ask(model, prompt, **body)
        assert stream.done["status"] == "complete", stream.done
        assert stream.text.strip()
        assert stream.done["usage"]["output"] > 0
        assert stream.done["cost"] >= 0
        return stream

    def trace(self, stream: ParsedStream) -> dict[str, Any]:
        """Return the trace of the stream's run."""
        return self.app.client.get(f"/api/runs/{stream.events[0]['run_id']}").json()
