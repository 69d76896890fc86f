"""An app that tests can restart, and subscribers that count frames."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx

from tests.scenarios.tool_loop.script import Called, Said, body_of, calls
from tests.support.running_app import WAIT, RunningApp, settings_for
from tests.support.scripted_upstream import Exchange, Script, ScriptedUpstream
from tests.support.stream_reader import check_stream, parse_stream

LOOPS = ("v2", "legacy")
# Clients may send the fields of a request in any order and spacing.
QUESTION: dict[str, Any] = {"model": "openai/sim", "prompt": "What is six by seven?", "on_disconnect": "continue"}


@dataclass
class RestartableApp:
    """A provider that stays, and an app on one data folder that can be restarted."""

    upstream: ScriptedUpstream
    data: Path
    settings: dict[str, Any]
    given: dict[str, Any]

    def __post_init__(self) -> None:
        """Hold nothing yet."""
        self._stack = ExitStack()
        self.app: RunningApp

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *error: object) -> None:
        self.upstream.opened.set()
        self._stack.close()

    def _start(self) -> None:
        made = settings_for(self.data, openrouter_base_url=self.upstream.base_url, **self.settings)
        self.app = self._stack.enter_context(RunningApp(made, **self.given))

    def restart(self) -> RunningApp:
        """Stop the app and start another one on its data folder."""
        self._stack.close()
        self._start()
        return self.app

    def post(self, body: dict[str, Any] | bytes = QUESTION, **headers: str) -> httpx.Response:
        """Send a question, and read the answer to its end."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.app.client.post("/api/chat/stream", content=raw, headers=named(headers))

    @contextmanager
    def asking(self, body: dict[str, Any] = QUESTION, **headers: str) -> Iterator["Subscriber"]:
        """Send a question on a separate connection; leaving the block closes it."""
        with subscribe(self.app, "POST", "/api/chat/stream", json=body, headers=named(headers)) as subscriber:
            yield subscriber

    def events(self, run_id: str, after: int = 0) -> bytes:
        """Replay a run."""
        return self.app.client.get(f"/api/runs/{run_id}/events?after={after}").content

    def stop(self, run_id: str) -> dict[str, Any]:
        """Stop a run from a separate connection."""
        return self.app.client.post(f"/api/runs/{run_id}/stop").json()

    def runs(self) -> int:
        """Return the number of runs."""
        return len(self.app.client.get("/api/runs").json()["runs"])


@dataclass
class Subscriber:
    """One connection; it reads on demand and keeps every byte."""

    response: httpx.Response
    seen: bytes = b""

    def __post_init__(self) -> None:
        """Read nothing yet."""
        self._chunks = self.response.iter_raw()
        self.run_id = self.response.headers.get("x-run-id", "")

    def frames(self, count: int) -> list[bytes]:
        """Read until this many complete frames have arrived; return them."""
        while len(pieces_of(self.seen)) < count:
            self.seen += next(self._chunks)
        return pieces_of(self.seen)[:count]

    def until(self, what: bytes) -> bytes:
        """Read until these bytes have arrived."""
        while what not in self.seen:
            self.seen += next(self._chunks)
        return self.seen

    def rest(self) -> bytes:
        """Read to the end; return everything that this connection received."""
        self.seen += b"".join(self._chunks)
        return self.seen


@contextmanager
def subscribe(app: RunningApp, method: str, path: str, **given: Any) -> Iterator[Subscriber]:
    """Open a stream on a separate connection; leaving the block closes it."""
    with (
        httpx.Client(base_url=app.url, timeout=WAIT, trust_env=False, verify=False) as alone,
        alone.stream(method, path, **given) as response,
    ):
        yield Subscriber(response)


def named(headers: dict[str, str]) -> dict[str, str]:
    """Convert keyword names to header names."""
    return {"content-type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}


def pieces_of(raw: bytes) -> list[bytes]:
    """Return the complete frames of a cut stream."""
    whole, border, _ = raw.rpartition(b"\n\n")
    return parse_stream(whole + border).pieces if border else []


def last_id(pieces: list[bytes], run_id: str) -> str:
    """Return the id of the last complete frame; without one, the run's id before its first event."""
    return parse_stream(pieces[-1]).ids[0] if pieces else f"{run_id}:0"


def ended(raw: bytes, status: str) -> bytes:
    """Check a complete stream with this status; return it."""
    assert check_stream(raw).done["status"] == status
    return raw


calculates = calls(Called("calculate", '{"expression":"6*7"}'))


async def concludes(exchange: Exchange) -> None:
    """Send some text, wait for the test, send the rest; one body is sent only after the wait."""
    said = Said(text=("Six by ", "seven ", "is ", "forty", "-two."))
    if not exchange.asked.body["stream"]:
        await exchange.gate_opened()
        await exchange.whole(200, json.dumps(body_of(said)).encode())
        return
    await exchange.head()
    for piece in said.text[:3]:
        await exchange.send_text(piece)
    await exchange.gate_opened()
    for piece in said.text[3:]:
        await exchange.send_text(piece)
    await exchange.end()


TOOL_RUN: tuple[Script, Script] = (calculates, concludes)
