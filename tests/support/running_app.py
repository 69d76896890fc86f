"""The whole app on a loopback port, in a thread of the test's process: real sockets, real HTTP."""

import asyncio
import logging
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx
import uvicorn
from signalbox.app.asgi.uvicorn_protocol import ClientConnection
from signalbox.app.config import FixedSettings, Settings
from signalbox.app.deps import Services
from signalbox.app.main import create_app
from signalbox.app.protocols import PROTOCOLS, ClientProtocol
from signalbox.core.tools import Tool
from signalbox.runs.run import Run

from tests.support.stream_reader import ParsedStream, check_stream

WAIT = 30.0
_REMEMBERED = 100
T = TypeVar("T")


def settings_for(data: Path, **given: Any) -> Settings:
    """Make settings that ignore the environment and `.env`."""
    chosen: dict[str, Any] = {"signalbox_data_dir": data, "signalbox_simulator_pace": 0.0, "tool_loop_v2": True}
    return FixedSettings(**(chosen | given))


class StoppableServer(uvicorn.Server):
    """A server in a thread; `stop` may be called from any thread."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self.loop: asyncio.AbstractEventLoop | None = None
        self._until = asyncio.Event()

    async def main_loop(self) -> None:
        """Wait for the stop event instead of polling ten times per second."""
        await self._until.wait()

    def stop(self) -> None:
        assert self.loop is not None
        self.loop.call_soon_threadsafe(self._until.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self.ready.set()


class RunningApp:
    """A served app.

    `client` sends requests to it. Its runs and its thread end when the `with` block ends.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        extra_tools: Sequence[Tool] = (),
        token: str | None = None,
        protocols: Sequence[ClientProtocol[Any]] = PROTOCOLS,
    ) -> None:
        self.app = create_app(settings, extra_tools=extra_tools, token=token, protocols=protocols)
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        config = uvicorn.Config(
            self.app, http=ClientConnection, log_config=None, log_level=logging.CRITICAL, access_log=False
        )
        config.timeout_graceful_shutdown = 2
        self._server = StoppableServer(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), name="app", daemon=True)
        # No certificates for plain HTTP: loading them takes 30 ms per app.
        self.client = httpx.Client(base_url=self.url, timeout=WAIT, trust_env=False, verify=False)
        self._over: dict[str, Run] = {}

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._server.ready.wait(WAIT), "the app did not start"
        assert self._server.started
        self._remember_runs()
        return self

    def _remember_runs(self) -> None:
        """Keep finished runs for tests; the app removes them once they are on disk."""
        told = self.parts.runs.on_over

        def over(run: Run) -> None:
            self._over[run.id] = run
            while len(self._over) > _REMEMBERED:
                del self._over[next(iter(self._over))]
            if told is not None:
                told(run)

        self.parts.runs.on_over = over

    def __exit__(self, *error: object) -> None:
        self.client.close()
        self.within(self.parts.runs.aclose())
        self._server.stop()
        self._thread.join(WAIT)
        assert not self._thread.is_alive()
        self._socket.close()

    @property
    def parts(self) -> Services:
        return self.app.state.services

    def within(self, work: Any) -> Any:
        """Run an awaitable on the app's event loop."""
        assert self._server.loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._server.loop).result(WAIT)

    def call(self, work: Callable[[], T]) -> T:
        """Call a function on the app's event loop."""

        async def called() -> T:
            return work()

        return self.within(called())

    def run(self, run_id: str) -> Run:
        run = self.call(lambda: self.parts.runs.live(run_id)) or self._over.get(run_id)
        assert run is not None, f"no run {run_id}"
        return run

    def over(self, run_id: str) -> Run:
        """Wait until a run has finished."""
        run = self.run(run_id)
        self.within(asyncio.wait_for(run.wait(), WAIT))
        return run

    def post(self, **body: Any) -> httpx.Response:
        return self.client.post("/api/chat/stream", json={"model": "openai/sim", **body})

    def ask(self, prompt: str = "Hello!", **body: Any) -> ParsedStream:
        """Send a question, read the stream to its end, and check it against the contract."""
        response = self.post(**({} if "messages" in body else {"prompt": prompt}), **body)
        assert response.status_code == 200, response.text
        return check_stream(response.content)

    @contextmanager
    def asking(self, prompt: str = "Hello!", **body: Any) -> Iterator[httpx.Response]:
        """Send a question and yield the open response; leaving the block closes the connection."""
        sent = {"model": "openai/sim", "prompt": prompt, **body}
        with (
            httpx.Client(base_url=self.url, timeout=WAIT, trust_env=False, verify=False) as alone,
            alone.stream("POST", "/api/chat/stream", json=sent) as response,
        ):
            assert response.status_code == 200, response.read()
            yield response


def read_until(chunks: Iterator[bytes], what: bytes) -> bytes:
    """Read a stream until these bytes have arrived."""
    seen = b""
    while what not in seen:
        seen += next(chunks)
    return seen


def error_of(response: httpx.Response) -> dict[str, Any]:
    """Check the shape of an error response; return its error."""
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert set(body) == {"error"}, body
    error = body["error"]
    assert {"code", "message"} <= set(error) <= {"code", "message", "field"}, error
    assert error["code"].isupper()
    assert error["message"]
    assert "Traceback" not in response.text
    return error


def openai_error_of(response: httpx.Response) -> dict[str, Any]:
    """Check the shape of an error response under /v1 or /api/v1; return its error."""
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert set(body) == {"error"}, body
    error = body["error"]
    assert set(error) - {"metadata"} == {"message", "type", "param", "code"}, error
    assert isinstance(error["code"], int) == ("metadata" in error), "OpenRouter's has both, OpenAI's neither"
    assert error["message"]
    assert "Traceback" not in response.text
    return error
