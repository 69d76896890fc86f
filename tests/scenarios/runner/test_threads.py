"""RunnerSync in several threads: one executes the run, all may change it, and leaving the `with` block ends it."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from itertools import islice
from typing import TypeVar

import pytest
from signalbox import Answer, CallResult, Content, RunnerSync, UsageError, tool, user

from tests.scenarios.runner.model import calls, model_that
from tests.scenarios.runner.test_messages import LOOK
from tests.support.scripted_upstream import holds, waits

LONGEST = 10
Value = TypeVar("Value")


def in_thread(work: Callable[[], Value]) -> "Future[Value]":
    """Call a function in another thread."""
    threads = ThreadPoolExecutor(1)
    future = threads.submit(work)
    threads.shutdown(wait=False)
    return future


def loops() -> set[threading.Thread]:
    """Return the threads of event loops."""
    return {thread for thread in threading.enumerate() if "portal" in thread.name}


def test_one_of_many_threads_executes_the_run() -> None:
    """Of eight that ask for the answer at once, one gets it, and the others an error that says when to ask."""
    with model_that(waits) as model:
        run, start = RunnerSync(model.upstream, "openai/sim", "Say two words."), threading.Barrier(8)

        def ask() -> Answer | UsageError:
            start.wait(LONGEST)
            try:
                return run.answer()
            except UsageError as error:
                return error

        asking = [in_thread(ask) for _ in range(8)]
        assert len([*islice(as_completed(asking, LONGEST), 7)]) == 7
        model.server.opened.set()
        got = [one.result(LONGEST) for one in asking]
    assert [one for one in got if isinstance(one, Answer)] == [run.answer()]
    refused = [str(one) for one in got if isinstance(one, UsageError)]
    assert len(refused) == 7
    assert "call answer() after the run has ended" in refused[0]


def test_an_answer_beside_an_iteration_is_an_error() -> None:
    """The iteration goes on to its end; then any thread gets the answer."""
    with model_that(waits) as model:
        run = RunnerSync(model.upstream, "openai/sim", "Say two words.")
        for event in run.events():
            if isinstance(event, Content) and not model.server.opened.is_set():
                with pytest.raises(UsageError, match="after the run has ended"):
                    in_thread(run.answer).result(LONGEST)
                with pytest.raises(UsageError, match="make a new Runner"):
                    in_thread(run.__iter__).result(LONGEST)
                model.server.opened.set()
        assert in_thread(run.answer).result(LONGEST).status == "complete"
    assert len(model.requests) == 1


def test_leaving_the_block_stops_the_run_for_all_threads() -> None:
    """A thread that waits for the answer gets one that says so; the event loop ends when both have left."""
    before = loops()
    with model_that(holds) as model:
        with RunnerSync(model.upstream, "openai/sim", "Hold.") as run:
            asking = in_thread(run.answer)
            assert model.server.wait_until(lambda: bool(model.server.asked))
        assert asking.result(LONGEST).status == "cancelled"
        assert run.answer() == asking.result()
        assert model.server.wait_until(lambda: bool(model.server.left))
    assert loops() <= before


def test_leaving_the_block_ends_a_wait_for_results() -> None:
    """Another thread waits for a tool: its results say that the call was stopped, and its iteration ends."""
    started, results = threading.Event(), list[CallResult]()

    @tool
    async def look() -> None:
        started.set()
        await asyncio.Event().wait()

    def iterate() -> None:
        for step in run:
            results.extend(step.results())
            assert step.results() == results

    with model_that(calls(LOOK)) as model:
        with RunnerSync(model.upstream, "openai/sim", "Look.", tools=[look]) as run:
            iterating = in_thread(iterate)
            assert started.wait(LONGEST)
        iterating.result(LONGEST)
    assert [one.code for one in results] == ["CANCELLED"]


def test_threads_may_change_a_run_that_another_one_executes() -> None:
    """A thread of a tool appends a message, and a further one stops the run."""

    @tool
    def look() -> str:
        run.append(user("Hurry up."))
        return "A lamp."

    with model_that(calls(LOOK), holds) as model:
        run = RunnerSync(model.upstream, "openai/sim", "Look.", tools=[look])
        asking = in_thread(run.answer)
        assert model.server.wait_until(lambda: len(model.server.asked) == 2)
        run.stop()
        assert asking.result(LONGEST).status == "cancelled"
        run.stop()
    assert model.roles(2) == ["user", "assistant", "tool", "user"]


def test_an_interrupted_iteration_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl+C while a thread waits for an event is a KeyboardInterrupt in the program, and nothing else."""
    with model_that(holds) as model:
        run = RunnerSync(model.upstream, "openai/sim", "Hold.")
        events = run.events()
        assert isinstance(next(events), Content)

        def interrupted(_: object, timeout: float | None = None) -> None:
            monkeypatch.undo()
            raise KeyboardInterrupt

        monkeypatch.setattr(Future, "result", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(events)
        assert run.answer().status == "cancelled"
        assert model.server.wait_until(lambda: bool(model.server.left))
