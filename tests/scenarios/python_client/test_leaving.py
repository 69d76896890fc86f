"""What ends a run: `stop`, and leaving the block before the run has ended."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import ExitStack

import httpx
import pytest
from signalbox_client import AsyncSignalbox, Backoff, Content, Done, Run, Signalbox

from tests.scenarios.python_client.conftest import FAST, open_client
from tests.support.fixtures import StartApp
from tests.support.running_app import WAIT, RunningApp
from tests.support.scripted_upstream import holds, waits


def status_of(app: RunningApp, run_id: str) -> str:
    """Wait until a run has ended; return its status."""
    app.over(run_id)
    return app.client.get(f"/api/runs/{run_id}").json()["status"]


def _fail_inside(run: Run, before: Callable[[], object]) -> None:
    with run:
        next(run)
        before()
        raise ZeroDivisionError


def test_stop_ends_the_stream_with_done(start_app: StartApp, stack: ExitStack) -> None:
    """The text stays, the status is `cancelled`, and the upstream request is closed."""
    app, upstream = start_app(holds)
    with open_client(stack, app.url).stream("Hello!", model="openai/sim") as run:
        event = next(run)
        assert isinstance(event, Content)
        stopped = run.stop()
        answer = run.answer()
    assert stopped == {"run_id": run.id, "stopped": True, "status": "cancelled"}
    assert (answer.status, answer.text) == ("cancelled", "So far")
    assert upstream.wait_until(lambda: len(upstream.left) == 1)


def test_stop_from_another_thread(start_app: StartApp, stack: ExitStack) -> None:
    """A thread may stop the run that another thread reads."""
    app, _ = start_app(holds)
    with open_client(stack, app.url).stream("Hello!", model="openai/sim") as run:
        next(run)
        stopper = threading.Thread(target=run.stop)
        stopper.start()
        assert [event.status for event in run if isinstance(event, Done)] == ["cancelled"]
        stopper.join(WAIT)


def test_leaving_stops_the_run(start_app: StartApp, stack: ExitStack) -> None:
    """A block that ends early, here by an exception, leaves no run behind that costs money."""
    app, upstream = start_app(holds)
    run = open_client(stack, app.url).stream("Hello!", model="openai/sim")
    with pytest.raises(ZeroDivisionError):
        _fail_inside(run, lambda: None)
    assert status_of(app, run.id) == "cancelled"
    assert upstream.wait_until(lambda: len(upstream.left) == 1)


def test_leaving_with_continue_lets_the_run_go_on(start_app: StartApp, stack: ExitStack) -> None:
    """Another client follows the run to its end, from any event on; leaving that stream stops nothing."""
    app, upstream = start_app(waits)
    client = open_client(stack, app.url)
    with client.stream("Hello!", model="openai/sim", on_disconnect="continue") as run:
        first = next(run)
    with client.runs.follow(run.id) as other:
        assert next(other) == first
    upstream.opened.set()
    with client.runs.follow(run.id, after=first.seq) as rest:
        assert rest.answer().text == "second."
    with client.runs.follow(run.id, after=10**6) as nothing:
        assert list(nothing) == []


def test_a_failed_stop_does_not_hide_the_error(start_app: StartApp, stack: ExitStack) -> None:
    """The exception of the block stays, with a note about the run."""
    app, _ = start_app(holds)
    client = open_client(stack, app.url)
    run = client.stream("Hello!", model="openai/sim")
    with pytest.raises(ZeroDivisionError) as error:
        _fail_inside(run, lambda: client.runs.delete(run.id))
    assert [note for note in error.value.__notes__ if run.id in note]


def test_leaving_does_not_wait_for_a_server_that_is_away(
    start_app: StartApp, stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is stopped in three attempts or not at all, and the error says so."""
    app, _ = start_app(holds)
    slept: list[float] = []
    monkeypatch.setattr("signalbox_client._sync.server.time.sleep", slept.append)
    http = httpx.Client(timeout=WAIT, trust_env=False, verify=False)
    run = Signalbox(app.url, backoff=Backoff(attempts=99), http=http).stream("Hello!", model="openai/sim")

    def cut_off() -> None:
        http._transport = httpx.MockTransport(lambda request: httpx.Response(503))

    with pytest.raises(ZeroDivisionError) as error:
        _fail_inside(run, cut_off)
    assert len(slept) == 2
    assert [note for note in error.value.__notes__ if "HTTP 503" in note]


def test_a_cancelled_task_stops_its_run(start_app: StartApp) -> None:
    """Cancelling an asyncio task that reads a run stops the run."""
    app, upstream = start_app(holds)

    async def read_until_cancelled() -> str:
        async with httpx.AsyncClient(timeout=WAIT, trust_env=False, verify=False) as http:
            started: asyncio.Future[str] = asyncio.get_running_loop().create_future()

            async def wait_for_events() -> None:
                async with AsyncSignalbox(app.url, backoff=FAST, http=http).stream("Hi", model="openai/sim") as run:
                    await anext(run)
                    started.set_result(run.id)
                    await anext(run)

            task = asyncio.create_task(wait_for_events())
            run_id = await started
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return run_id

    assert status_of(app, asyncio.run(read_until_cancelled())) == "cancelled"
    assert upstream.wait_until(lambda: len(upstream.left) == 1)
