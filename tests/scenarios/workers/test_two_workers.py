"""Two worker processes on one PostgreSQL behind the nginx of deploy/: each can serve the other's runs."""

import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.nginx import Nginx, nginx, program
from tests.support.processes import Process, serving
from tests.support.running_app import read_until
from tests.support.scripted_upstream import Script, ScriptedUpstream, call_chunk, calls_then, holds, says, waits
from tests.support.stream_reader import ParsedStream, check_stream, parse_stream
from tests.support.workers import pid_of, within

pytestmark = pytest.mark.e2e

STREAM = "/api/chat/stream"
ASK = {"model": "openai/sim", "prompt": "Hello!", "tools": []}
LEASE = 2
# A dead worker's lease, the heartbeat that notices it, and a busy machine.
NOTICED = LEASE + 30.0  # a busy machine: the bound is for what hangs


@dataclass
class TwoWorkers:
    """Two workers, nginx in front of them, one provider behind both."""

    one: Process
    two: Process
    front: Nginx
    upstream: ScriptedUpstream

    @property
    def pids(self) -> set[int]:
        return {self.one.process.pid, self.two.process.pid}


@contextmanager
def serve_twice(folder: Path, url: str, *scripts: Script, **env: str) -> Iterator[TwoWorkers]:
    """Start all processes until the block ends."""
    program()
    with ExitStack() as stack:
        upstream = stack.enter_context(ScriptedUpstream(*scripts))
        given = {
            "DATABASE_URL": url,
            "OPENROUTER_BASE_URL": upstream.base_url,
            "TOOL_LOOP_V2": "true",
            "SIGNALBOX_LEASE_SECONDS": str(LEASE),
            "SIGNALBOX_ADMIN_TOKEN": "the-operators-token",
            **env,
        }
        one, two = (stack.enter_context(serving(_made(folder / name), env=given)) for name in ("one", "two"))
        ports = [int(process.url.rpartition(":")[2]) for process in (one, two)]
        yield TwoWorkers(one, two, stack.enter_context(nginx(folder / "nginx", *ports)), upstream)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def follow(process: Process, run_id: str, into: list[bytes]) -> threading.Thread:
    """Read a run's stream at a worker in a thread; the pieces are appended to the list."""

    def receive() -> None:
        with process.client() as client, client.stream("GET", f"/api/runs/{run_id}/events") as answer:
            into.extend(answer.iter_raw())

    thread = threading.Thread(target=receive)
    thread.start()
    return thread


def seen(pieces: list[bytes], words: bytes) -> Callable[[], bool]:
    """Return whether these bytes have arrived."""
    return lambda: words in b"".join(pieces)


def test_a_run_is_followed_resumed_and_stopped_at_the_other_worker(tmp_path: Path, postgres_url: str) -> None:
    """The other worker streams each piece as it is sent; resuming and stopping there work."""
    with serve_twice(tmp_path, postgres_url, waits, holds) as here, here.one.client() as one, here.two.client() as two:
        assert {pid_of(one), pid_of(two)} == here.pids
        assert len(here.pids) == 2
        pieces: list[bytes] = []
        with one.stream("POST", STREAM, json=ASK) as answer:
            run_id, chunks = answer.headers["x-run-id"], answer.iter_raw()
            own = read_until(chunks, b"First ")
            following = follow(here.two, run_id, pieces)
            within(30, seen(pieces, b"First "))
            here.upstream.opened.set()
            own += b"".join(chunks)
        following.join()
        whole, other = check_stream(own), check_stream(b"".join(pieces))
        assert other.events == whole.events
        assert other.ids == whole.ids
        cursor = next(name for name, event in zip(whole.ids, whole.events, strict=True) if event["type"] == "content")
        resumed = two.post(STREAM, headers={"Last-Event-ID": cursor})
        assert check_stream(resumed.content, resumed=True).ids == whole.ids[whole.ids.index(cursor) + 1 :]

        with one.stream("POST", STREAM, json=ASK) as answer:
            chunks = answer.iter_raw()
            own = read_until(chunks, b"So far")
            stopped = two.post(f"/api/runs/{answer.headers['x-run-id']}/stop").json()
            own += b"".join(chunks)
        assert (stopped["stopped"], stopped["status"]) == (True, "cancelled")
        assert check_stream(own).done["status"] == "cancelled"
        assert here.upstream.wait_until(lambda: len(here.upstream.left) == 1)
        trace = two.get(f"/api/runs/{stopped['run_id']}").json()
        assert trace["status"] == "cancelled"


def test_through_nginx_a_broken_line_is_taken_up_wherever_it_leads(tmp_path: Path, postgres_url: str) -> None:
    """Runs are spread over both workers; each can be resumed through nginx at either."""
    count = 8
    with serve_twice(tmp_path, postgres_url, waits) as here, here.front.client() as client:
        started = [_cut_off(client, here) for _ in range(count)]
        here.upstream.opened.set()
        served: Counter[str] = Counter()
        for run_id, cursor in started:
            answer = client.get(f"/api/runs/{run_id}/events", headers={"Last-Event-ID": cursor})
            assert check_stream(answer.content, resumed=True).text == "second."
            whole = client.get(f"/api/runs/{run_id}/events")
            assert check_stream(whole.content).text == "First second."
        for process in (here.one, here.two):
            served[process.url] = sum('"event":"run.finished"' in line for line in process.errors().splitlines())
        assert sum(served.values()) == count, "every run has ended in exactly one worker"
        assert all(served.values()), "one worker had them all"


def _cut_off(client: httpx.Client, here: TwoWorkers) -> tuple[str, str]:
    """Start a run that continues without its subscriber, read its first piece, and disconnect."""
    with client.stream("POST", STREAM, json={**ASK, "on_disconnect": "continue"}) as answer:
        got = read_until(answer.iter_raw(), b"First ")
    heard = parse_stream(got[: got.rfind(b"\n\n") + 2])
    return answer.headers["x-run-id"], heard.ids[-1]


def test_the_runs_of_a_worker_that_was_killed_are_ended_by_the_other(tmp_path: Path, postgres_url: str) -> None:
    """After kill -9, a subscriber at the other worker receives one honest ending, and the chat continues.

    A run of the living worker is not affected, and nginx sends new questions to it.
    """
    call = calls_then(call_chunk("calculate", '{"expression": "1+1"}'))
    with (
        serve_twice(tmp_path, postgres_url, call, holds, waits, says("Here we are.")) as here,
        here.one.client() as one,
        here.two.client() as two,
        here.front.client() as client,
    ):
        asked = {**ASK, "tools": ["calculate"], "conversation_id": "chat", "on_disconnect": "continue"}
        with one.stream("POST", STREAM, json=asked) as answer:
            run_id = answer.headers["x-run-id"]
            own = read_until(answer.iter_raw(), b"So far")
        pieces: list[bytes] = []
        following = follow(here.two, run_id, pieces)
        within(30, seen(pieces, b"So far"))
        with two.stream("POST", STREAM, json=ASK) as living:
            chunks = living.iter_raw()
            lives = read_until(chunks, b"First ")
            here.one.process.send_signal(signal.SIGKILL)
            took = within(NOTICED, lambda: not following.is_alive())
            here.upstream.opened.set()
            lives += b"".join(chunks)
        print(f"the ending of a killed worker's run was told {took:.1f} s after it (lease {LEASE} s)")
        ended = check_stream(b"".join(pieces))
        assert (ended.done["status"], ended.done["code"]) == ("interrupted", "SERVER_CRASH")
        assert ended.result_codes() == [None]
        before = parse_stream(own[: own.rfind(b"\n\n") + 2])
        assert ended.events[: len(before.events)] == before.events
        assert check_stream(lives).done["status"] == "complete"
        trace = two.get(f"/api/runs/{run_id}").json()
        assert (trace["status"], trace["code"]) == ("interrupted", "SERVER_CRASH")
        _goes_on(client, two)


def _goes_on(client: httpx.Client, two: httpx.Client) -> None:
    """Send the next question through nginx with a key, so that a retry is harmless."""
    headers = {"Idempotency-Key": "next"}
    answer = client.post(STREAM, json={**ASK, "prompt": "And?", "conversation_id": "chat"}, headers=headers)
    assert check_stream(answer.content).text == "Here we are."
    told = two.get("/api/conversations/chat").json()["messages"]
    assert [node["role"] for node in told] == ["user", "assistant", "user", "assistant"]


def test_one_key_sent_to_both_workers_at_once_is_one_run(tmp_path: Path, postgres_url: str) -> None:
    """One upstream request is sent per key, whichever worker was first."""
    keys = 10
    with serve_twice(tmp_path, postgres_url, says("Once.")) as here, here.one.client() as one, here.two.client() as two:

        def ask(of: tuple[httpx.Client, str]) -> ParsedStream:
            client, key = of
            return check_stream(client.post(STREAM, json=ASK, headers={"Idempotency-Key": key}).content)

        with ThreadPoolExecutor(8) as threads:
            both = [(client, f"k{number}") for number in range(keys) for client in (one, two)]
            answers = list(threads.map(ask, both))
        assert {answer.text for answer in answers} == {"Once."}
        assert len(here.upstream.asked) == keys
        assert len({answer.ids[0] for answer in answers}) == keys


def test_a_conversation_is_one_whichever_worker_is_asked(tmp_path: Path, postgres_url: str) -> None:
    """Questions at alternating workers: each model receives the full history; lists, traces and deletion agree."""
    with serve_twice(tmp_path, postgres_url, says("Fine.")) as here, here.one.client() as one, here.two.client() as two:
        for number, client in enumerate((one, two, one, two)):
            answer = client.post(STREAM, json={**ASK, "prompt": f"Question {number}", "conversation_id": "chat"})
            assert check_stream(answer.content).done["status"] == "complete"
            told: list[dict[str, Any]] = here.upstream.asked[-1].body["messages"]
            assert [m["content"] for m in told if m["role"] == "user"] == [f"Question {n}" for n in range(number + 1)]
        listed = [client.get("/api/conversations").json() for client in (one, two)]
        assert listed[0] == listed[1]
        assert listed[0]["conversations"][0]["messages"] == 8
        assert one.get("/api/runs").json() == two.get("/api/runs").json()
        assert two.delete("/api/conversations/chat").json()["deleted"] is True
        assert one.get("/api/conversations/chat").status_code == 404


def test_a_conversation_is_deleted_while_its_answer_is_made_elsewhere(tmp_path: Path, postgres_url: str) -> None:
    """The run is stopped at its worker, all of it is deleted, and its subscriber ends."""
    with serve_twice(tmp_path, postgres_url, holds) as here, here.one.client() as one, here.two.client() as two:
        with one.stream("POST", STREAM, json={**ASK, "conversation_id": "chat"}) as answer:
            chunks = answer.iter_raw()
            own = read_until(chunks, b"So far")
            assert two.get("/api/conversations").json()["conversations"][0]["is_running"] is True
            within(30, lambda: "So far" in two.get("/api/conversations/chat").text)
            assert two.delete("/api/conversations/chat").status_code == 200
            own += b"".join(chunks)
        assert check_stream(own).done["status"] == "cancelled"
        assert two.get(f"/api/runs/{answer.headers['x-run-id']}").status_code == 404
        assert here.upstream.wait_until(lambda: len(here.upstream.left) == 1)


def test_leaving_at_the_other_worker_stops_a_run(tmp_path: Path, postgres_url: str) -> None:
    """A run ends when its last subscriber disconnects, also if that one is at the other worker."""
    with serve_twice(tmp_path, postgres_url, holds) as here, here.one.client() as one, here.two.client() as two:
        with one.stream("POST", STREAM, json=ASK) as answer:
            run_id, own = answer.headers["x-run-id"], answer.iter_raw()
            read_until(own, b"So far")
            with two.stream("GET", f"/api/runs/{run_id}/events") as other:
                others = other.iter_raw()
                read_until(others, b"So far")
                within(30, lambda: one.get(f"/api/runs/{run_id}").json()["watchers"] == 2)
                answer.close()
                within(30, lambda: one.get(f"/api/runs/{run_id}").json()["watchers"] == 1)
                assert here.upstream.left == []
        assert here.upstream.wait_until(lambda: len(here.upstream.left) == 1)
        within(30, lambda: two.get(f"/api/runs/{run_id}").json()["status"] == "cancelled")


def test_a_worker_that_was_only_paused_tells_nothing_beside_the_ending_that_is_kept(
    tmp_path: Path, postgres_url: str
) -> None:
    """The client of a paused worker receives only the stored ending of the worker that took over."""
    with serve_twice(tmp_path, postgres_url, waits) as here, here.one.client() as one, here.two.client() as two:
        with one.stream("POST", STREAM, json=ASK) as answer:
            run_id, chunks = answer.headers["x-run-id"], answer.iter_raw()
            own = read_until(chunks, b"First ")
            here.one.process.send_signal(signal.SIGSTOP)
            try:
                within(NOTICED, lambda: two.get(f"/api/runs/{run_id}").json()["status"] == "interrupted")
                here.upstream.opened.set()
            finally:
                here.one.process.send_signal(signal.SIGCONT)
            own += b"".join(chunks)
        assert check_stream(own).done["code"] == "SERVER_CRASH"
        kept = check_stream(two.get(f"/api/runs/{run_id}/events").content)
        assert kept.done == check_stream(own).done
