"""Runs over the simulator's native APIs, with the requests that it received."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from signalbox.simulator.http.server import BackgroundSimulator

from tests.support.running_app import RunningApp, settings_for
from tests.support.stream_reader import ParsedStream, check_stream

Body = dict[str, Any]
LOOPS = ("v2", "legacy")
KEY = "canary-of-a-native-key"
FILE = """\
[[upstream]]
name = "native"
dialect = "{dialect}"
base_url = "{origin}{base}"
key = "file:native.key"
timeout = {timeout}
rename = {{ "{family}/*" = "*" }}
"""


def app_over(
    simulator: BackgroundSimulator, folder: Path, *, dialect: str, base: str, family: str, timeout: float = 5
) -> RunningApp:
    """Return an app with one upstream: a native API of the simulator, whose models clients call `family/…`."""
    origin = f"http://{simulator.host}:{simulator.port}"
    text = FILE.format(dialect=dialect, origin=origin, base=base, family=family, timeout=timeout)
    file = folder / "upstreams.toml"
    file.write_text(text, encoding="utf-8")
    (folder / "native.key").write_text(f"{KEY}\n", encoding="utf-8")
    return RunningApp(settings_for(folder / "data", signalbox_upstreams=file, signalbox_allow_loop_header=True))


@dataclass(frozen=True)
class NativeRun:
    """A run from both sides: its stream, and the upstream requests with their statuses."""

    heard: ParsedStream
    requests: list[Body]
    statuses: list[int | None]

    @property
    def outcome(self) -> tuple[str, str | None]:
        """Return status and code of the run."""
        return self.heard.done["status"], self.heard.done.get("code")


@dataclass(frozen=True)
class NativeAsker:
    """Sends questions to an app over one native API."""

    app: RunningApp
    simulator: BackgroundSimulator
    path: str
    """What the paths of requests for answers contain."""
    family: str

    def __call__(self, model: str, prompt: str, *, loop: str = "v2", **body: Any) -> NativeRun:
        """Send a question on a loop and check the stream against the contract."""
        before = list(self.simulator.state.requests)  # the references keep the identities unique
        known = {id(request) for request in before}
        sent = {"model": f"{self.family}/{model}", **body}
        if "messages" not in sent:
            sent["prompt"] = prompt
        response = self.app.client.post("/api/chat/stream", json=sent, headers={"x-tool-loop": loop})
        assert response.status_code == 200, response.text
        assert response.headers["x-tool-loop"] == loop
        assert self.simulator.wait_until(lambda state: state.open_streams == 0)
        new = [request for request in self.simulator.state.requests if id(request) not in known]
        received = [request for request in new if self.path in request.path]
        heard = check_stream(response.content)
        return NativeRun(heard, [one.body for one in received], [one.status for one in received])
