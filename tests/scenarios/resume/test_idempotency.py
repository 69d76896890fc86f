"""Idempotency-Key: equal requests are one run, at any time and any number of times."""

import json
import threading

import pytest

from tests.scenarios.resume.conftest import StartApp
from tests.scenarios.resume.restartable_app import QUESTION, TOOL_RUN, ended
from tests.scenarios.tool_loop.script import fails
from tests.support.running_app import error_of
from tests.support.scripted_upstream import says

KEY = "5f0c-1"
ASKED = {**QUESTION, "metadata": {"a": "1", "b": "2"}}


def reordered() -> bytes:
    """Return the request with its keys in another order, other spaces and other escapes."""
    body: dict[str, object] = {name: ASKED[name] for name in reversed(ASKED)}
    body["metadata"] = {"b": "2", "a": "1"}
    return json.dumps(body, indent=3).replace("six", "\\u0073ix").encode()


def test_the_same_run_from_its_start(stage: StartApp) -> None:
    """While it runs, after it finished and after a restart: one run, one upstream request, the same bytes."""
    playing = stage(*TOOL_RUN)
    with playing.asking(ASKED, idempotency_key=KEY) as first:
        first.until(b"is ")
        with playing.asking(ASKED, idempotency_key=KEY) as second:
            assert second.run_id == first.run_id
            second.until(b"is ")
            playing.upstream.opened.set()
            whole = ended(first.rest(), "complete")
            assert second.rest() == whole
    again = playing.post(reordered(), idempotency_key=KEY)
    assert (again.headers["x-run-id"], again.content) == (first.run_id, whole)
    playing.restart()
    later = playing.post(reordered(), idempotency_key=KEY)
    assert (later.headers["x-run-id"], later.content) == (first.run_id, whole)
    assert len(playing.upstream.asked) == 2
    assert playing.runs() == 1


def test_at_the_same_instant(stage: StartApp) -> None:
    """Eight simultaneous requests give one run, which all of them read."""
    playing = stage(says("Forty-two."))
    ready = threading.Barrier(8)
    answers: list[tuple[str, bytes]] = []

    def ask() -> None:
        ready.wait()
        with playing.asking(idempotency_key=KEY) as one:
            answers.append((one.run_id, one.rest()))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert len(set(answers)) == 1
    ended(answers[0][1], "complete")
    assert len(playing.upstream.asked) == 1
    assert playing.runs() == 1


@pytest.mark.parametrize(
    "changed",
    [{"prompt": "What is six by eight?"}, {"model": "openai/other"}, {"on_disconnect": "stop"}, {"seed": 7}],
    ids=lambda changed: next(iter(changed)),
)
def test_another_body_is_refused(stage: StartApp, changed: dict[str, object]) -> None:
    """A key with another body is rejected, and its run is unchanged."""
    playing = stage(says("Forty-two."))
    first = playing.post(idempotency_key=KEY)
    other = playing.post({**QUESTION, **changed}, idempotency_key=KEY)
    assert (other.status_code, error_of(other)["code"]) == (422, "KEY_REUSED")
    assert playing.post(idempotency_key=KEY).content == first.content
    assert len(playing.upstream.asked) == 1


@pytest.mark.parametrize("key", ["", "k" * 256, "schlüssel", "a\tb"], ids=["empty", "256", "not ASCII", "a tab"])
def test_a_key_that_is_none(stage: StartApp, key: str) -> None:
    """A key has 1 to 255 printable ASCII characters."""
    playing = stage(says("Forty-two."))
    headers = [(b"idempotency-key", key.encode())]
    refused = playing.app.client.post("/api/chat/stream", json=QUESTION, headers=headers)
    assert (refused.status_code, error_of(refused)["field"]) == (422, "Idempotency-Key")
    assert playing.upstream.asked == []
    assert playing.post(idempotency_key="k" * 255).status_code == 200


def test_a_refused_request_does_not_use_its_key_up(stage: StartApp) -> None:
    """After a 422 or 503 the key can be used again."""
    playing = stage(says("Forty-two."))
    wrong = playing.post({**QUESTION, "nothing": 1}, idempotency_key=KEY)
    assert wrong.status_code == 422
    unfit = playing.post({**QUESTION, "tools": ["unknown"]}, idempotency_key=KEY)
    assert unfit.status_code == 422
    playing.app.parts.runs.max_active = 0
    busy = playing.post(idempotency_key=KEY)
    assert (busy.status_code, error_of(busy)["code"]) == (503, "TOO_MANY_RUNS")
    playing.app.parts.runs.max_active = 1000
    ended(playing.post(idempotency_key=KEY).content, "complete")
    assert len(playing.upstream.asked) == 1


def test_a_run_that_failed_is_given_again(stage: StartApp) -> None:
    """A failed run is the response of its key; a retry needs another key."""
    playing = stage(fails(400), says("Forty-two."))
    first = playing.post(idempotency_key=KEY)
    again = playing.post(idempotency_key=KEY)
    assert again.content == ended(first.content, "error")
    assert len(playing.upstream.asked) == 1
    ended(playing.post(idempotency_key="another").content, "complete")


def test_a_last_event_id_goes_before_a_key(stage: StartApp) -> None:
    """If both headers are sent, as fetch-event-source does, the key is ignored, valid or not."""
    playing = stage(says("Forty-", "two."))
    first = playing.post(idempotency_key=KEY)
    cursor = f"{first.headers['x-run-id']}:1"
    for key in (KEY, "another", "k" * 256):
        rest = playing.post({**QUESTION, "prompt": "?"}, idempotency_key=key, last_event_id=cursor)
        assert rest.status_code == 200
        assert first.content.endswith(rest.content)
    assert len(playing.upstream.asked) == 1
    assert playing.runs() == 1
