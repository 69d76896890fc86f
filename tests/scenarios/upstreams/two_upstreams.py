"""An app with two scripted upstreams, `first` and `second`, and a route from the first to the second."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import Asked, ScriptedUpstream
from tests.support.stream_reader import ParsedStream

MODEL = "acme/model"
FIRST_KEY, SECOND_KEY = "canary-key-of-the-first", "canary-key-of-the-second"
FILE = """\
[[upstream]]
name = "first"
dialect = "openai-chat"
base_url = "{first}"
key = "env:FIRST_KEY"
timeout = 5
headers = {{ "x-team" = "chat" }}
rename = {{ "acme/*" = "first-*" }}

[[upstream]]
name = "second"
dialect = "openrouter-chat"
base_url = "{second}"
key = "file:second.key"
rename = {{ "acme/model" = "vendor/second-model" }}

[[route]]
models = "acme/*"
use = ["first", "second"]
"""


@dataclass(frozen=True)
class TwoUpstreams:
    """The app and its upstreams; `file` is upstreams.toml."""

    app: RunningApp
    first: ScriptedUpstream
    second: ScriptedUpstream
    file: Path

    def ask(self, prompt: str = "Hello!", *, model: str = MODEL, **body: Any) -> ParsedStream:
        """Send a question."""
        return self.app.ask(prompt, model=model, **body)

    def trace(self, heard: ParsedStream) -> dict[str, Any]:
        """Return the trace of a run."""
        return self.app.client.get(f"/api/runs/{heard.events[0]['run_id']}").json()

    def attempts(self, heard: ParsedStream) -> list[tuple[str, str | None]]:
        """Return the upstream and the error code of each attempt."""
        return [(attempt["upstream"], attempt["code"]) for attempt in self.trace(heard)["attempts"]]

    def asked(self) -> tuple[int, int]:
        """Return how many requests each upstream received."""
        return len(self.first.asked), len(self.second.asked)


def models_of(asked: list[Asked]) -> list[str]:
    """Return the models of requests."""
    return [one.body["model"] for one in asked]
