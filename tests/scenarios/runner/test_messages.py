"""What a caller may add, change and replace between steps: no reply is lost, no call runs twice (TR-02 to TR-08)."""

import asyncio
from typing import Any, cast

import pytest
from signalbox import Runner, ToolReturn, UsageError, assistant, image, system, tool, user
from signalbox.core.messages import AssistantMessage, ImagePart, ToolMessage

from tests.scenarios.runner.model import answers, calls, model_that
from tests.support.fakes import make_tool

pytestmark = pytest.mark.anyio
LOOK = ("look", {})


class Counter:
    """A tool that counts its executions."""

    def __init__(self) -> None:
        self.ran = 0
        self.tool = make_tool("look", lambda *_: self._count())

    def _count(self) -> dict[str, int]:
        self.ran += 1
        return {"seen": self.ran}


@pytest.fixture
def counter() -> Counter:
    """Make a tool that counts its executions."""
    return Counter()


async def test_tr_02_a_request_holds_the_reply_and_its_results_in_order(counter: Counter) -> None:
    """Each request continues the one before it: reply, results, then what was appended."""
    with model_that(calls(LOOK, text="Let me look."), calls(LOOK), answers("Done.")) as model:
        run = Runner(model.upstream, "openai/sim", [system("Be brief."), user("Look.")], tools=[counter.tool])
        assert (await run.answer()).text == "Done."
    assert model.roles(3) == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert model.requests[2]["messages"][2]["content"] == "Let me look."
    for one, following in zip(model.requests, model.requests[1:], strict=False):
        assert following["messages"][: len(one["messages"])] == one["messages"]


async def test_tr_03_changed_parameters_drop_nothing_and_repeat_nothing(counter: Counter) -> None:
    """`set` changes the next request only: the reply and its result are in it, and three requests are sent."""
    with model_that(calls(LOOK), calls(LOOK), answers("Done.")) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[counter.tool], max_tokens=100)
        async for step in run:
            run.set(max_tokens=100 + step.number, temperature=None)
    assert [request["max_tokens"] for request in model.requests] == [100, 101, 102]
    assert model.roles(3) == ["user", "assistant", "tool", "assistant", "tool"]
    assert counter.ran == 2


async def test_tr_04_a_call_runs_and_is_answered_whatever_is_appended(counter: Counter) -> None:
    """A message that is appended before the tools have run follows their results."""
    with model_that(calls(LOOK), answers("Done.")) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[counter.tool])
        async for step in run:
            if not step.final:
                run.append(user("Hurry up."))
    assert model.roles(2) == ["user", "assistant", "tool", "user"]
    assert counter.ran == 1


async def test_tr_04_a_replaced_conversation_refuses_open_calls(counter: Counter) -> None:
    """`replace` alone drops a reply; its calls do not run, and their result says why."""
    with model_that(calls(LOOK), answers("Hello.")) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[counter.tool])
        async for step in run:
            if step.number == 1:
                run.replace("Say hello.")
                assert [(one.success, one.code) for one in await step.results()] == [(False, "DENIED")]
    assert model.roles(2) == ["user"]
    assert [type(message) for message in run.messages][1:] == [AssistantMessage]
    assert counter.ran == 0


async def test_tr_05_a_result_in_hand_is_not_fetched_again(counter: Counter) -> None:
    """Awaiting the results and appending a message executes the call once."""
    with model_that(calls(LOOK), answers("Done.")) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[counter.tool])
        async for step in run:
            if step.calls:
                assert [one.value for one in await step.results()] == [{"seen": 1}]
                run.append(user("And now?"))
    assert counter.ran == 1
    assert ['{"seen":1}' in result for result in model.results(2)] == [True]


@pytest.mark.parametrize("message", [assistant("I know."), ToolMessage("call_0", "look", "{}"), "text"])
async def test_tr_05_and_06_the_run_itself_adds_replies_and_results(message: Any, counter: Counter) -> None:
    """Appending a copy of a reply, or a result, is an error that says so; the call still runs once."""
    with model_that(calls(LOOK), answers("Done.")) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[counter.tool])
        async for step in run:
            if step.calls:
                with pytest.raises(UsageError, match="Only messages of the user can be appended, not"):
                    run.append(message)
    assert (counter.ran, len(model.requests)) == (1, 2)


async def test_tr_07_a_message_after_the_final_answer_is_answered() -> None:
    """The answer is kept, and the message that follows it starts one more step."""
    with model_that(answers("Four."), answers("IV.")) as model:
        run = Runner(model.upstream, "openai/sim", "2 + 2?")
        async for step in run:
            if step.text == "Four.":
                assert step.final
                run.append(user("In Roman numerals?"))
        assert (await run.answer()).text == "IV."
    assert model.roles(2) == ["user", "assistant", "user"]
    assert len(run.messages) == 4


async def test_tr_07_an_answer_that_was_cut_off_can_be_continued() -> None:
    """An answer at its length limit is kept in the conversation, so that a message can ask for the rest."""
    with model_that(answers("One, two", finish="length"), answers(", three.")) as model:
        run = Runner(model.upstream, "openai/sim", "Count.")
        texts = [step.text async for step in run if not (step.number == 1 and run.append(user("Go on.")))]
    assert texts == ["One, two", ", three."]
    assert model.roles(2) == ["user", "assistant", "user"]


async def test_tr_08_concurrent_requests_for_results_share_one_execution(counter: Counter) -> None:
    """Several tasks that await the results get the same ones; so does one that gave up waiting and comes back."""
    with model_that(calls(LOOK), answers("Done.")) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[counter.tool])
        async for step in run:
            if step.calls:
                impatient = asyncio.create_task(step.results())
                await asyncio.sleep(0)
                impatient.cancel()
                first, second = await asyncio.gather(step.results(), step.results())
                assert first == second == await step.results()
    assert counter.ran == 1


async def test_an_edited_call_runs_and_is_remembered_as_edited() -> None:
    """The tool and the history get the caller's arguments."""
    given: list[dict[str, Any]] = []
    tool = make_tool("look", lambda arguments, _: given.append(cast("dict[str, Any]", arguments)) or "ok")
    with model_that(calls(("look", {"path": "/etc"})), answers("Done.")) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[tool])
        async for step in run:
            for call in step.calls:
                step.edit(call, {"path": "/tmp"})
                assert [result.call.arguments for result in await step.results()] == [{"path": "/tmp"}]
    assert given == [{"path": "/tmp"}]
    assert model.requests[1]["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"path":"/tmp"}'


async def test_images_of_results_reach_the_model() -> None:
    """A tool may return an image, alone or with a result; the images follow the results of their step."""

    @tool
    def photograph(*, alone: bool) -> ImagePart | ToolReturn:
        picture = image(b"png", "image/png")
        return picture if alone else ToolReturn({"width": 3}, images=[picture])

    made = [("photograph", {"alone": True}), ("photograph", {"alone": False})]
    with model_that(calls(*made), answers("A cat.")) as model:
        run = Runner(model.upstream, "openai/sim", "Photograph it.", tools=[photograph])
        assert (await run.answer()).text == "A cat."
    assert model.roles(2) == ["user", "assistant", "tool", "tool", "user"]
    parts = model.requests[1]["messages"][4]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url", "image_url"]
    assert parts[1]["image_url"]["url"] == "data:image/png;base64,cG5n"
