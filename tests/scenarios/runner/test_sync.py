"""RunnerSync: the same run for programs that are not asynchronous."""

import asyncio
import subprocess
import sys
import threading

import pytest
from signalbox import Content, RunnerSync, Step, StepSync, UsageError, tool, user

from tests.scenarios.runner.model import answers, calls, model_that
from tests.scenarios.runner.test_messages import LOOK, Counter
from tests.support.scripted_upstream import holds


def test_steps_are_taken_without_an_event_loop() -> None:
    """Calls can be refused, results awaited and messages appended; no thread outlives the run."""
    counter, before = Counter(), threading.active_count()
    with model_that(calls(LOOK, ("look", {"n": 2})), answers("One."), answers("1.")) as model:
        with RunnerSync(model.upstream, "openai/sim", "Look.", tools=[counter.tool]) as run:
            for step in run:
                if step.calls:
                    step.refuse(step.calls[1], "Once is enough.")
                    assert [one.success for one in step.results()] == [True, False]
                if step.text == "One.":
                    run.append(user("As a digit?"))
            assert run.answer().text == "1."
            assert run.cost == 0.0
        assert counter.ran == 1
    assert threading.active_count() == before


@pytest.mark.anyio
async def test_it_works_inside_a_running_loop() -> None:
    """A notebook has a running event loop; the run uses its own."""
    with model_that(answers("Four.")) as model:
        assert RunnerSync(model.upstream, "openai/sim", "2 + 2?").answer().text == "Four."


@pytest.mark.anyio
async def test_a_notebook_takes_steps_with_asynchronous_tools() -> None:
    """Steps, changes and an async tool work while the caller's own loop is running, which is blocked meanwhile."""
    notebook = asyncio.get_running_loop()
    loops: list[asyncio.AbstractEventLoop] = []

    @tool
    async def look() -> str:
        """Look around."""
        loops.append(asyncio.get_running_loop())
        return "A lamp."

    with (
        model_that(calls(LOOK), answers("A lamp."), answers("Une lampe.")) as model,
        RunnerSync(model.upstream, "openai/sim", "Look.", tools=[look]) as run,
    ):
        for step in run:
            values = [result.value for result in step.results()]
            if step.text == "A lamp.":
                run.append(user("In French?"))
            elif not step.final:
                assert values == ["A lamp."]
        assert run.answer().text == "Une lampe."
    assert len(loops) == 1
    assert loops[0] is not notebook


IN_A_BLOCK = """
def steps():
    with run:
        yield from run
left = steps()
"""


@pytest.mark.parametrize("iterator", ["left = iter(run)", "left = run.events()", IN_A_BLOCK])
def test_a_program_ends_although_its_iterator_does_not(iterator: str) -> None:
    """A variable of the module still holds the iterator when Python exits."""
    with model_that(calls(LOOK), answers("A lamp.")) as model:
        program = "\n".join(
            [
                "from signalbox import RunnerSync, Upstream, tool",
                "def look() -> str: return 'A lamp.'",
                f"run = RunnerSync(Upstream({model.server.base_url!r}), 'openai/sim', 'Look.', tools=[tool(look)])",
                iterator,
                "next(left)",
            ]
        )
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=True)
    assert (ended.stdout, ended.stderr) == (b"", b"")


def test_leaving_the_loop_closes_the_request() -> None:
    """Breaking out of the events closes the socket, without a `with` block; a second iteration is an error."""
    with model_that(holds) as model:
        run = RunnerSync(model.upstream, "openai/sim", "Hold.")
        for event in run.events():
            assert not isinstance(event, Step | StepSync)
            if isinstance(event, Content):
                break
        assert model.server.wait_until(lambda: bool(model.server.left))
        assert run.answer().status == "cancelled"
        with pytest.raises(UsageError, match="iterated over only once"):
            iter(run)
