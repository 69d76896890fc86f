"""A database that stops responding under a running app: streams continue, new runs are rejected, nothing hangs."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from signalbox.core.events import Done
from signalbox.store.engines import postgres, timeouts
from signalbox.store.runs import journal

from tests.support.fixtures import StartApp
from tests.support.postgres import Server
from tests.support.processes import command, serving
from tests.support.running_app import RunningApp, read_until
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, holds, says
from tests.support.silent_servers import Proxy, silent_listener
from tests.support.stream_reader import ParsedStream, check_stream

SECRET = "canary-password-8812"
# All timeouts of production, a fifth as long.
ANSWER, FLUSH = 1.0, 2.0
# Turns a call that never ends into a failure; the engine's tests check the timeouts.
HANG = 30.0
WORDS = 300


@pytest.fixture
def proxy(postgres: Server) -> Iterator[Proxy]:
    """Run a proxy in front of the database server."""
    with Proxy(postgres.port) as made:
        yield made


@pytest.fixture
def proxied_url(postgres: Server, postgres_url: str, proxy: Proxy) -> str:
    """Return the URL of a new database through the proxy."""
    return postgres.url(postgres_url.rpartition("/")[2], port=proxy.port)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the database's timeouts."""
    monkeypatch.setattr(postgres, "ANSWER_SECONDS", ANSWER)
    monkeypatch.setattr(postgres, "LOCK_SECONDS", FLUSH)
    monkeypatch.setattr(timeouts, "SILENT_SECONDS", 0.2)
    monkeypatch.setattr(journal, "_TIMEOUT_SECONDS", FLUSH)
    monkeypatch.setattr(journal, "_RETRY_SECONDS", 0.2)


async def long(exchange: Exchange) -> None:
    """Send some text, wait for the test, send more."""
    await exchange.head()
    await exchange.send_text("First ")
    await exchange.gate_opened()
    for number in range(WORDS):
        await exchange.send_text(f"{number} ")
    await exchange.end()


class Streams:
    """Unfinished streams, each read to its end in a separate thread."""

    def __init__(self, app: RunningApp, stack: ExitStack, count: int) -> None:
        self.heads: list[Any] = [stack.enter_context(app.asking()) for _ in range(count)]
        self._bytes: list[list[bytes]] = []
        self._threads: list[threading.Thread] = []
        for head in self.heads:
            pieces = head.iter_raw()
            read = [read_until(pieces, b"First")]
            self._bytes.append(read)
            self._threads.append(threading.Thread(target=lambda r=read, p=pieces: r.extend(p)))  # type: ignore[misc]
        for thread in self._threads:
            thread.start()

    def end(self) -> list[ParsedStream]:
        """Wait until all have ended."""
        for thread in self._threads:
            thread.join(30)
        return [check_stream(b"".join(read)) for read in self._bytes]

    @property
    def ids(self) -> list[str]:
        return [head.headers["x-run-id"] for head in self.heads]


@contextmanager
def no_hang() -> Iterator[None]:
    """Fail if the block takes longer than any timeout."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < HANG


def asked(app: RunningApp, run_id: str) -> dict[str, Any]:
    """Call every endpoint that reads or writes; return each response."""
    body = {"model": "openai/sim", "prompt": "Hi"}
    conversation = {**body, "conversation_id": "c"}
    client = app.client
    calls = {
        "a question": lambda: client.post("/api/chat/stream", json=body),
        "one with a key": lambda: client.post("/api/chat/stream", json=body, headers={"idempotency-key": "k"}),
        "one in a conversation": lambda: client.post("/api/chat/stream", json=conversation),
        "runs": lambda: client.get("/api/runs"),
        "a run": lambda: client.get(f"/api/runs/{run_id}"),
        "an old run": lambda: client.get(f"/api/runs/{'0' * 32}"),
        "its events": lambda: client.get(f"/api/runs/{'0' * 32}/events"),
        "a stop": lambda: client.post(f"/api/runs/{'0' * 32}/stop"),
        "conversations": lambda: client.get("/api/conversations", params={"search": "x"}),
        "a conversation": lambda: client.get("/api/conversations/c"),
        "its title": lambda: client.patch("/api/conversations/c", json={"title": "x"}),
        "its end": lambda: client.delete("/api/conversations/c"),
        "saves": lambda: client.get("/api/saves"),
        "a save": lambda: client.post("/api/saves", json={"run_id": run_id, "title": "x"}),
        "the override": lambda: client.get("/api/flags/tool_loop_v2"),
        "models": lambda: client.get("/api/models"),
        "tools": lambda: client.get("/api/tools"),
    }
    out: dict[str, Any] = {}
    for name, call in calls.items():
        with no_hang():
            out[name] = call()
    return out


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("how", ["hold", "cut"])
def test_streams_go_on_and_new_ones_are_refused(
    start_app: StartApp, proxy: Proxy, proxied_url: str, postgres: Server, how: str
) -> None:
    """Nothing hangs during the outage, and afterwards all events are on disk, once."""
    given = {"database_url": proxied_url, "signalbox_lease_seconds": 2.0}
    app, upstream = start_app(long, long, long, says("Back."), settings=given)
    with ExitStack() as stack:
        streams = Streams(app, stack, 3)
        getattr(proxy, how)()
        with no_hang():
            first = app.post(prompt="Hi")
        assert (first.status_code, first.json()["error"]["code"]) == (503, "STORE_UNAVAILABLE")
        with no_hang():
            assert app.post(prompt="Hi").status_code == 503
        upstream.opened.set()
        with no_hang():
            heard = streams.end()
        assert [one.done["status"] for one in heard] == ["complete"] * 3
        answers = asked(app, streams.ids[0])
        told = {name: answer.status_code for name, answer in answers.items()}
        fine = {name: told.pop(name) for name in ("a run", "models", "tools", "the override")}
        assert set(fine.values()) == {200}, fine
        assert set(told.values()) == {503}, told
        with no_hang():
            ready = app.client.get("/health/ready")
        assert (ready.status_code, ready.json()["checks"]["database"]) == (503, False)
        assert app.client.get("/health/live").status_code == 200
        proxy.release()
        back = time.monotonic()
        while (again := app.post(prompt="Hi")).status_code != 200:
            assert time.monotonic() - back < HANG
            time.sleep(0.02)
        assert check_stream(again.content).done["status"] == "complete"
        app.within(app.parts.runs.store.flush())
    assert app.client.get("/health/ready").status_code == 200
    for run_id, one in zip(streams.ids, heard, strict=True):
        kept = app.within(app.parts.runs.events(run_id))
        assert [stamped.seq for stamped in kept] == list(range(1, len(one.events) + 1))
        assert [type(s.event) for s in kept].count(Done) == 1
        (row,) = postgres.sql("SELECT status FROM runs WHERE id = $1", run_id, database=proxied_url)
        assert row == ("complete",)
    assert postgres.sql("SELECT count(*) FROM runs", database=proxied_url) == [(4,)]
    assert postgres.sql("SELECT count(*) FROM leases", database=proxied_url) == [(0,)]


def test_a_start_against_silence_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """A database that never answers stops the start with an error that does not contain the password."""
    with silent_listener() as port:
        told = command(
            *("serve", "--port", "0"),
            cwd=tmp_path,
            env={"DATABASE_URL": f"postgresql://someone:{SECRET}@127.0.0.1:{port}/box"},
        )
    said = (told.stdout + told.stderr).decode()
    assert told.returncode == 2
    assert f"The database 127.0.0.1:{port}/box cannot be used: it does not answer." in said
    assert (SECRET in said, "Traceback" in said) == (False, False)


def test_a_process_ends_while_the_database_is_away(tmp_path: Path, proxy: Proxy, proxied_url: str) -> None:
    """A server with an unsaved answer stops in time during the outage, and logs that it was not saved."""
    env = {"DATABASE_URL": proxied_url, "SIGNALBOX_DRAIN_SECONDS": "0", "TOOL_LOOP_V2": "true"}
    body = {"model": "openai/sim", "prompt": "Hi"}
    with ScriptedUpstream(holds) as upstream:
        env["OPENROUTER_BASE_URL"] = upstream.base_url
        with serving(tmp_path, env=env) as process, process.client() as client:
            with client.stream("POST", "/api/chat/stream", json=body) as response:
                pieces = response.iter_raw()
                read_until(pieces, b"So far")
                proxy.hold()
                process.process.send_signal(signal.SIGTERM)
                rest = b"".join(pieces)
                process.process.wait(30)
            assert b'"status":"interrupted"' in rest
            assert "journal.events_lost" in process.errors()
