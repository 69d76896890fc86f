"""A run as steps: the reply is complete, and its tools have not run."""

import gc
from weakref import ref

import pytest
from signalbox import Runner, user
from signalbox.core.messages import JsonObject

from tests.scenarios.runner.model import answers, calls, model_that
from tests.support.fakes import make_tool

pytestmark = pytest.mark.anyio


async def test_a_program_decides_between_a_reply_and_its_tools() -> None:
    """It refuses a call, reads the cost, appends a question to the final step, and prints the answer."""
    ran: list[JsonObject] = []
    price = make_tool("price", lambda arguments, _: ran.append(arguments) or {"total": 21})
    replies = (
        calls(("price", {"count": 7}), ("price", {"count": 700}), cost=0.01),
        answers("Seven cost 21.", cost=0.02),
        answers("21.", cost=0.03),
    )
    with model_that(*replies) as model:
        async with Runner(model.upstream, "openai/sim", [user("What do 7 screws cost?")], tools=[price]) as run:
            async for step in run:
                for call in step.calls:
                    if call.arguments["count"] > 100:
                        step.refuse(call, "Ask a person first.")
                results = await step.results()
                if step.number == 1:
                    assert [(one.success, one.code) for one in results] == [(True, None), (False, "DENIED")]
                if step.number == 2:
                    assert step.final
                    run.append(user("Shorter, please."))
            answer = await run.answer()
    assert (answer.text, answer.status, answer.steps, round(answer.cost, 6)) == ("21.", "complete", 3, 0.06)
    assert ran == [{"count": 7}]
    assert model.results(2)[1] == {"error": "Ask a person first.", "code": "DENIED"}
    assert model.roles(3) == ["user", "assistant", "tool", "tool", "assistant", "user"]


async def test_a_run_is_freed_without_a_garbage_collection() -> None:
    """No reference cycle keeps a run that has ended: many runs of one process need no full collections."""
    tool = make_tool("look", lambda *_: "ok")
    with model_that(calls(("look", {})), answers("Done.")) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[tool])
        gc.disable()
        try:
            assert (await run.answer()).text == "Done."
            run = ref(run)
            assert run() is None
        finally:
            gc.enable()
