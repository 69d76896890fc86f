"""Rejected requests: the client retries what may succeed later, and raises typed errors for the rest."""

import copy
import pickle
from collections.abc import Callable
from contextlib import ExitStack

import httpx
import pytest
from signalbox_client import (
    AccessDenied,
    Backoff,
    Conflict,
    InvalidRequest,
    NotFound,
    RateLimited,
    RunFailed,
    ServerError,
    SignalboxError,
)

from tests.scenarios.python_client.conftest import open_client, rejecting
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import sends, waits


@pytest.mark.parametrize("status", [425, 429, 503])
def test_retry_after_is_waited_for(app: RunningApp, stack: ExitStack, slept: list[float], status: int) -> None:
    """A question and a list are sent again after the server's delay, and then answered."""
    later = [httpx.Response(status, headers={"retry-after": "7"}) for _ in range(2)]
    assert rejecting(app, stack, *later).ask("Hello!", model="openai/sim").text
    later = [httpx.Response(status, headers={"retry-after": "7"}) for _ in range(2)]
    assert list(rejecting(app, stack, *later).runs.list())
    assert len(slept) == 4
    assert all(7 <= delay < 8 for delay in slept)


def test_the_client_gives_up(app: RunningApp, stack: ExitStack, slept: list[float]) -> None:
    """After the last attempt, or if the server asks for more patience than there is."""
    busy = [httpx.Response(503, headers={"retry-after": "1"}) for _ in range(3)]
    with pytest.raises(ServerError) as given_up:
        rejecting(app, stack, *busy, backoff=Backoff(attempts=3)).ask("Hello!", model="openai/sim")
    assert (given_up.value.retry_after, given_up.value.code, len(slept)) == (1, "HTTP_503", 2)
    late = httpx.Response(429, headers={"retry-after": "3600"})
    with pytest.raises(RateLimited) as limited:
        rejecting(app, stack, late).ask("Hello!", model="openai/sim")
    assert (limited.value.retry_after, limited.value.retryable, len(slept)) == (3600, True, 2)


def test_the_delay_doubles(app: RunningApp, stack: ExitStack, slept: list[float]) -> None:
    """Without `retry-after`, each delay is twice the last one, up to the longest, with jitter."""
    busy = [httpx.Response(502, text="<html>Bad gateway</html>") for _ in range(5)]
    rejecting(app, stack, *busy, backoff=Backoff(first=1, longest=4)).ask("Hello!", model="openai/sim")
    for delay, least in zip(slept, (1, 2, 4, 4, 4), strict=True):
        assert least <= delay <= 2 * least


def test_a_real_rate_limit(start_app: StartApp, stack: ExitStack, slept: list[float]) -> None:
    """The exact seconds of the server's 429 reach the caller."""
    app, upstream = start_app(sends(), settings={"signalbox_rate_limit": "1/3 hours"})
    with pytest.raises(RunFailed):
        open_client(stack, app.url).ask("One.", model="openai/sim")
    with pytest.raises(RateLimited) as limited:
        open_client(stack, app.url).ask("Two.", model="openai/sim")
    assert limited.value.code == "TOO_MANY_QUESTIONS"
    assert 10_000 < (limited.value.retry_after or 0) <= 10_800
    assert slept == []
    assert len({asked.raw for asked in upstream.asked}) == 1


def test_errors_say_what_happened_and_what_to_do(app: RunningApp, stack: ExitStack, slept: list[float]) -> None:
    """Code, sentence and field of the server; nothing is retried."""
    client = open_client(stack, app.url)
    with pytest.raises(InvalidRequest) as invalid:
        client.ask("Hello!", model="openai/sim", max_steps=99)
    assert (invalid.value.code, invalid.value.field, invalid.value.status) == ("INVALID_REQUEST", "max_steps", 422)
    assert invalid.value.request_id
    with pytest.raises(InvalidRequest, match="Choose a model from GET /api/models"):
        client.ask("Hello!", model="no/such-model")
    with pytest.raises(NotFound) as unknown:
        client.runs.trace("0" * 32)
    assert unknown.value.code == "UNKNOWN_RUN"
    with pytest.raises(NotFound), client.runs.follow("0" * 32):
        pass
    assert slept == []


def test_a_conflict_is_not_retried(start_app: StartApp, stack: ExitStack, slept: list[float]) -> None:
    """Saving an active run is a `Conflict` with the server's advice."""
    app, upstream = start_app(waits)
    client = open_client(stack, app.url)
    with client.stream("Hello!", model="openai/sim") as run:
        with pytest.raises(Conflict) as conflict:
            client.saves.create(run.id)
        upstream.opened.set()
        assert run.answer().text == "First second."
    assert (conflict.value.code, conflict.value.retryable) == ("RUN_NOT_OVER", False)
    assert slept == []


def test_a_failed_run_holds_its_answer(start_app: StartApp, stack: ExitStack) -> None:
    """`ask` raises for an ending other than `complete`; `stream` reports it as `Done`."""
    frame = b'data: {"id":"g","choices":[{"index":0,"delta":{"content":"Half"},"finish_reason":"length"}]}\n\n'
    app, _ = start_app(sends(frame, b"data: [DONE]\n\n"))
    client = open_client(stack, app.url)
    with pytest.raises(RunFailed) as failed:
        client.ask("Hello!", model="openai/sim", tools=[])
    assert (failed.value.status, failed.value.code, failed.value.answer.text) == ("length", "LENGTH", "Half")
    assert "max_tokens" in str(failed.value)
    with client.stream("Hello!", model="openai/sim", tools=[]) as run:
        assert run.answer().status == "length"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_can_be_copied_and_pickled(
    app: RunningApp, stack: ExitStack, slept: list[float], copied: Callable[[SignalboxError], SignalboxError]
) -> None:
    """A copy, for example in another process, has the class, the message and the attributes of the error."""
    client = open_client(stack, app.url)
    questions = (
        lambda: client.ask("Hello!", model="openai/sim", max_steps=99),
        lambda: client.ask("Hello!", model="openai/sim-error-402"),
        lambda: open_client(stack, "http://127.0.0.1:9").models(),
    )
    for question in questions:
        with pytest.raises(SignalboxError) as raised:
            question()
        same = copied(raised.value)
        assert (type(same), str(same), vars(same)) == (type(raised.value), str(raised.value), vars(raised.value))


def test_tokens_choose_the_owner(start_app: StartApp, stack: ExitStack) -> None:
    """A wrong token is `AccessDenied`; no representation of the client shows a token."""
    app, _ = start_app(waits, settings={"signalbox_access_token": "a-secret-token"})
    with pytest.raises(AccessDenied) as denied:
        open_client(stack, app.url, "another-token").ask("Hello!", model="openai/sim")
    assert denied.value.code == "UNAUTHORIZED"
    client = open_client(stack, app.url, "a-secret-token")
    assert list(client.runs.list()) == []
    assert "secret" not in repr([vars(client), vars(client.runs)])
