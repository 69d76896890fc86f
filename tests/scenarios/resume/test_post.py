"""A POST with a Last-Event-ID resumes that run, and never starts one."""

from typing import Any

import httpx
import pytest

from tests.scenarios.resume.conftest import StartApp
from tests.scenarios.resume.restartable_app import QUESTION, RestartableApp
from tests.support.running_app import error_of
from tests.support.scripted_upstream import says

UNKNOWN = "0" * 32
BODIES = {
    "the question": b'{"model":"openai/sim","prompt":"What is six by seven?","on_disconnect":"continue"}',
    "nothing": b"",
    "no JSON": b"{",
    "another question": b'{"model":"openai/sim","prompt":"Another one."}',
    "an unknown model": b'{"model":"unknown/knows","prompt":"?","field":1}',
    "much": b"x" * 3_000_000,
}


@pytest.fixture
def answered(stage: StartApp) -> tuple[RestartableApp, httpx.Response]:
    """Start an app with one finished run."""
    playing = stage(says("Forty-", "two."))
    return playing, playing.post()


def untouched(playing: RestartableApp) -> bool:
    """Return whether there is still one run with one upstream request."""
    return playing.runs() == 1 and len(playing.upstream.asked) == 1


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_whatever_its_body_is(answered: tuple[RestartableApp, httpx.Response], body: bytes) -> None:
    """Only the header counts, whatever the body, and the connection stays usable."""
    playing, first = answered
    run_id = first.headers["x-run-id"]
    again = playing.post(body, last_event_id=f"{run_id}:0")
    assert (again.status_code, again.content) == (200, first.content)
    assert playing.post(body, last_event_id=f"{run_id}:1").content in first.content
    assert playing.post(body, last_event_id=f"{run_id}:99").status_code == 204
    assert untouched(playing)


def test_what_it_answers_instead_of_starting(answered: tuple[RestartableApp, httpx.Response]) -> None:
    """An unknown run is 404, a finished one 204 and uncached, an invalid id 422; no upstream request is sent."""
    playing, first = answered
    run_id = first.headers["x-run-id"]
    unknown = playing.post(last_event_id=f"{UNKNOWN}:3")
    assert (unknown.status_code, error_of(unknown)["code"]) == (404, "UNKNOWN_RUN")
    seen = playing.post(last_event_id=f"{run_id}:1000")
    assert (seen.status_code, seen.content, seen.headers["x-run-id"]) == (204, b"", run_id)
    assert "no-cache" in seen.headers["cache-control"]
    for name in ("nonsense", run_id, f"{run_id}:", f"{run_id}:x", f"{run_id}:-1", f":{1}", f"{run_id}:1, {run_id}:2"):
        malformed = playing.post(last_event_id=name)
        assert (malformed.status_code, error_of(malformed)["field"]) == (422, "Last-Event-ID"), name
    assert untouched(playing)


def test_two_of_them(answered: tuple[RestartableApp, httpx.Response]) -> None:
    """Two different cursors or keys are rejected; two equal ones count as one."""
    playing, first = answered
    run_id = first.headers["x-run-id"]
    client = playing.app.client

    def answer_to(name: str, *values: str) -> list[tuple[int, Any]]:
        headers = [("content-type", "application/json"), *((name, value) for value in values)]
        asked = [client.post("/api/chat/stream", json=QUESTION, headers=headers)]
        if name == "last-event-id":
            asked.append(client.get(f"/api/runs/{run_id}/events", headers=headers))
        return [(a.status_code, a.content if a.status_code == 200 else error_of(a)["field"]) for a in asked]

    assert answer_to("last-event-id", f"{run_id}:0", f"{run_id}:1") == [(422, "Last-Event-ID")] * 2
    assert answer_to("last-event-id", f"{run_id}:0", f"{run_id}:0") == [(200, first.content)] * 2
    assert answer_to("idempotency-key", "a", "b") == [(422, "Idempotency-Key")]
    assert untouched(playing)


def test_an_empty_one_is_none(answered: tuple[RestartableApp, httpx.Response]) -> None:
    """An empty id counts as none, so the question is sent."""
    playing, first = answered
    assert playing.post(last_event_id="").headers["x-run-id"] != first.headers["x-run-id"]


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "DELETE"])
def test_other_methods_watch_nothing(answered: tuple[RestartableApp, httpx.Response], method: str) -> None:
    """Only GET follows a run, and only POST asks."""
    playing, first = answered
    for path in (f"/api/runs/{first.headers['x-run-id']}/events", "/api/chat/stream"):
        assert playing.app.client.request(method, path).status_code == 405
    assert playing.app.parts.streams.open == 0
    assert untouched(playing)
