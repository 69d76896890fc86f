"""Concurrent runs per user are counted in the database, over all workers and exactly."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from tests.scenarios.limits.conftest import Among
from tests.support.running_app import RunningApp, error_of
from tests.support.scripted_upstream import holds, says
from tests.support.stream_reader import check_stream

ANNA, BERT = {"x-user": "anna"}, {"x-user": "bert"}


def start(app: RunningApp, user: dict[str, str], **body: Any) -> httpx.Response:
    """Start a run that continues without its client, and do not read it."""
    asked = {"model": "openai/sim", "prompt": "Hi", "tools": [], "on_disconnect": "continue", **body}
    with (
        httpx.Client(base_url=app.url, trust_env=False, verify=False) as alone,
        alone.stream("POST", "/api/chat/stream", json=asked, headers=user) as response,
    ):
        if response.status_code != 200:
            response.read()
        return response


def stop(app: RunningApp, started: httpx.Response) -> None:
    """Stop the run of a response."""
    user = {"x-user": started.request.headers.get("x-user", "")}
    assert app.client.post(f"/api/runs/{started.headers['x-run-id']}/stop", headers=user).json()["stopped"]


def test_a_user_has_so_many_runs(among: Among) -> None:
    """One run more gives a 429 that names the limit; other users are not affected, and a stop frees a slot."""
    app, upstream = among(holds, signalbox_max_runs_per_user=2)
    mine = [start(app, ANNA), start(app, ANNA)]
    refused = start(app, ANNA)
    assert (refused.status_code, error_of(refused)["code"]) == (429, "TOO_MANY_RUNS")
    assert "each user may have 2" in error_of(refused)["message"]
    assert refused.headers["retry-after"] == "2"
    others = [start(app, BERT), *(start(app, {}) for _ in range(3))]
    assert {one.status_code for one in others} == {200}
    stop(app, mine.pop())
    mine.append(start(app, ANNA))
    assert mine[-1].status_code == 200
    for started in mine + others:
        stop(app, started)
    assert len(upstream.asked) <= 7


def test_a_burst_finds_no_more_room_than_there_is(among: Among) -> None:
    """Of twelve simultaneous requests exactly three start a run."""
    app, _ = among(holds, signalbox_max_runs_per_user=3)
    with ThreadPoolExecutor(12) as many:
        answers = list(many.map(lambda _: start(app, ANNA), range(12)))
    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [429] * 9
    for answer in answers:
        if answer.status_code == 200:
            stop(app, answer)


def test_an_answer_that_was_read_makes_room(among: Among) -> None:
    """A client that has read `done` can start its next run, since the slot is released first."""
    app, _ = among(says("Hello."), signalbox_max_runs_per_user=1)
    for _ in range(20):
        answer = app.client.post("/api/chat/stream", json={"model": "openai/sim", "prompt": "Hi"}, headers=ANNA)
        assert check_stream(answer.content).done["status"] == "complete"


def test_runs_of_another_worker_count(among: Among) -> None:
    """Unfinished runs of other workers in the database count."""
    app, _ = among(holds, signalbox_max_runs_per_user=1)
    start(app, ANNA)
    app.call(app.parts.runs._live.clear)  # as if it belonged to another worker
    assert start(app, ANNA).status_code == 429


def test_a_user_without_a_limit(among: Among) -> None:
    """Without the setting only the server's limit applies."""
    app, _ = among(holds)
    started = [start(app, ANNA) for _ in range(8)]
    assert {one.status_code for one in started} == {200}
    for one in started:
        stop(app, one)
