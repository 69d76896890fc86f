"""Wrong values of a program: the error comes where the value was given, names it, and the run is not affected."""

from collections.abc import Callable
from typing import Any, cast

import pytest
from signalbox import (
    RequestError,
    Runner,
    RunnerSync,
    ToolReturn,
    Upstream,
    UsageError,
    assistant,
    image,
    system,
    tool,
    user,
)
from signalbox.core.messages import AssistantMessage, ImagePart, ToolCall, ToolMessage, UserMessage
from signalbox.core.tools import Tool, ToolSpec

from tests.scenarios.runner.model import answers, calls, model_that
from tests.scenarios.runner.test_messages import LOOK, Counter
from tests.support.fakes import make_tool

pytestmark = pytest.mark.anyio
HALF = "a\ud800"
LONE = "the character at position 1 is a lone surrogate"
DEEP: list[Any] = []
for _ in range(200):
    DEEP = [DEEP]
LOOKER = make_tool("look", lambda *_: "A lamp.")


def tool_of(description: str, parameters: dict[str, Any]) -> Tool:
    """Return a tool that was not made by `@tool`."""
    return Tool(ToolSpec("see", description, parameters), LOOKER.run)


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ({"upstream": "openai"}, "upstream", "expected an Upstream, got 'openai'"),
        ({"model": None}, "model", "expected the name of a model"),
        ({"model": ""}, "model", "expected the name of a model"),
        ({"messages": 3}, "messages", "expected a text or a list of messages, got 3"),
        ({"messages": HALF}, "messages", LONE),
        ({"messages": [UserMessage(cast(Any, 3))]}, "messages[0].content", "expected a text or a tuple of parts"),
        ({"messages": [UserMessage(cast(Any, ("a",)))]}, "messages[0].content[0]", "expected a part of a message"),
        ({"messages": [ToolMessage("c", "look", HALF)]}, "messages[0].content", LONE),
        (
            {"messages": [user("Hi."), AssistantMessage(calls=(ToolCall("c", "look", {"n": cast(Any, object())}),))]},
            "messages[1].calls[0].arguments.n",
            "expected a JSON value, got object",
        ),
        ({"tools": LOOKER}, "tools", "expected a list of tools, such as [look], got Tool"),
        ({"tools": 3}, "tools", "expected a list of tools, got 3"),
        ({"tools": [print]}, "tools[0]", "expected a tool, as @tool makes one, got builtin_function_or_method"),
        ({"tools": [tool_of(HALF, {})]}, "tools[0].spec.description", LONE),
        ({"tools": [LOOKER, tool_of("", {"a": {1}})]}, "tools[1].spec.parameters.a", "expected a JSON value, got set"),
        ({"tool_choice": ["look"]}, "tool_choice", "expected auto, none, required or the name of a tool, got list"),
        ({"max_cost": "1"}, "max_cost", "expected at least 0 USD, got '1'"),
        ({"extra": {"a": object()}}, "extra.a", "expected a JSON value, got object"),
        ({"extra": {"a": [1, HALF]}}, "extra.a[1]", LONE),
        ({"extra": {HALF: 1}}, "extra", f"a key of extra: {LONE}"),
        ({"extra": {"a": DEEP}}, None, "is nested more than 128 levels deep"),
        ({"response_format": {"a": {"b": {1}}}}, "response_format.a.b", "expected a JSON value, got set"),
        ({"temperature": float("nan")}, "temperature", "expected a number that JSON can express, got nan"),
    ],
)
async def test_a_wrong_argument_of_a_runner_is_named(given: dict[str, Any], field: str | None, words: str) -> None:
    """No run begins with it."""
    arguments: dict[str, Any] = {"upstream": Upstream("http://127.0.0.1:1/v1"), "model": "m", "messages": "Hi."}
    with pytest.raises(RequestError) as wrong:
        Runner(**(arguments | given))
    assert words in wrong.value.message
    assert field is None or wrong.value.field == field


@pytest.mark.parametrize("name", ["max_steps", "tools_at_once", "compact_at"])
@pytest.mark.parametrize("value", ["5", True, 0, -1, 1.5, float("nan"), float("inf"), [], 10.0**-9])
async def test_a_limit_is_an_integer_of_at_least_1(name: str, value: Any) -> None:
    """Anything else is rejected before the run; 2.0 is an integer."""
    upstream = Upstream("http://127.0.0.1:1/v1")
    options: dict[str, Any] = {name: value}
    with pytest.raises(RequestError, match=f"{name}: expected an integer of at least 1, got") as wrong:
        Runner(upstream, "m", "Hi.", **options)
    assert wrong.value.field == name
    options = {name: 2.0}
    Runner(upstream, "m", "Hi.", **options)


async def test_tools_may_be_a_generator() -> None:
    """Each tool is offered to the model."""
    with model_that(answers("Hi.")) as model:
        tools: Any = (one for one in [LOOKER])
        await Runner(model.upstream, "openai/sim", "Hi.", tools=tools).answer()
    assert [one["function"]["name"] for one in model.requests[0]["tools"]] == ["look"]


async def test_the_wrong_kind_of_block_is_a_hint() -> None:
    """`with` and `for` of the asynchronous runner name the other form, and the other way round."""
    upstream = Upstream("http://127.0.0.1:1/v1")
    run: Any = Runner(upstream, "m", "Hi.")
    with pytest.raises(UsageError, match=r"needs `async with`\. RunnerSync works with `with`"), run:
        pass
    with pytest.raises(UsageError, match="needs `async for`"):
        list(run)
    blocking: Any = RunnerSync(upstream, "m", "Hi.")
    with pytest.raises(UsageError, match="needs `with`"):
        async with blocking:
            pass
    with pytest.raises(UsageError, match="needs `for`"):
        _ = [step async for step in blocking]


@pytest.mark.parametrize(
    ("make", "field", "words"),
    [
        (lambda: user(cast(Any, 3)), "text", "expected a text, got 3"),
        (lambda: user(HALF), "text", LONE),
        (lambda: system(HALF), "text", LONE),
        (lambda: assistant(HALF), "text", LONE),
        (lambda: user("Hi.", images="https://a.test/b.png"), "images", "expected a list of images, got str"),
        (lambda: image(cast(Any, "png"), "image/png"), "data", "expected the bytes of an image, got 'png'"),
        (lambda: image(b"png", "png"), "media_type", "expected the type of an image, such as image/png, got 'png'"),
        (lambda: user("Hi.", images=["b.png"]), "images", "images[0]: expected a URL that begins with https://"),
        (lambda: user("Hi.", images=[cast(Any, b"png")]), "images", "images[0]: expected an image or its URL"),
        (lambda: user("Hi.", images=[ImagePart(f"data:{HALF}")]), "images", "images[0]: its URL has a lone surrogate"),
    ],
)
def test_a_wrong_part_of_a_message_is_named(make: Callable[[], object], field: str, words: str) -> None:
    """The message is not made."""
    with pytest.raises(RequestError) as wrong:
        make()
    assert wrong.value.field == field
    assert words in wrong.value.message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda step, call: step.edit(call, {"n": object()}), "arguments.n: expected a JSON value, got object"),
        (lambda step, call: step.edit(call, {1: 2}), "arguments: expected texts as keys, got 1"),
        (lambda step, call: step.edit(call, {"n": HALF}), f"arguments.n: {LONE}"),
        (lambda step, call: step.edit(call, [1]), "arguments: expected a dict, got list"),
        (lambda step, call: step.edit(call.id, {}), "call: expected one of step.calls, got "),
        (lambda step, call: step.refuse(call, HALF), f"why: {LONE}"),
        (lambda step, call: step.refuse(call, None), "why: expected a text, got NoneType"),
    ],
)
async def test_a_wrong_change_of_a_call_changes_nothing(change: Callable[[Any, Any], None], words: str) -> None:
    """The program gets the error; the call runs with its own arguments, and has one result."""
    counter = Counter()
    with model_that(calls(LOOK), answers("Done.")) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[counter.tool])
        async for step in run:
            for call in step.calls:
                with pytest.raises(RequestError) as wrong:
                    change(step, call)
                assert words in wrong.value.message
        assert (await run.answer()).text == "Done."
    assert counter.ran == 1
    assert len(model.results(2)) == 1


async def test_an_edit_is_a_copy() -> None:
    """What the program does to its dict afterwards does not reach the tool; a tuple becomes a list."""
    given: list[Any] = []
    look = make_tool("look", lambda arguments, _: given.append(arguments) or "ok")
    with model_that(calls(LOOK), answers("Done.")) as model:
        async for step in Runner(model.upstream, "openai/sim", "Look.", tools=[look]):
            for call in step.calls:
                arguments: dict[str, Any] = {"at": ("lamp", {"n": 2**70})}
                step.edit(call, arguments)
                arguments.clear()
    assert given == [{"at": ["lamp", {"n": 2**70}]}]


async def test_wrong_changes_of_a_run_are_named() -> None:
    """`append`, `replace` and `set` raise before they change anything."""
    with model_that(answers("Done.")) as model:
        run = Runner(model.upstream, "openai/sim", "Hi.")
        for change in (
            lambda: run.append(user("Hi."), UserMessage(HALF)),
            lambda: run.replace([UserMessage(HALF)]),
            lambda: run.set(extra={"a": HALF}),
            lambda: run.set(model=HALF),
        ):
            with pytest.raises(RequestError, match=LONE):
                change()
        await run.answer()
    assert model.roles(1) == ["user"]
    assert model.requests[0]["model"] == "openai/sim"


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (ToolReturn("ok", images=cast(Any, 3)), "images: expected a list of images, got int."),
        (ToolReturn("ok", images=["cat.png"]), "images[0]: expected a URL that begins with https:// or data:image/."),
        (ToolReturn("ok", images=[cast(Any, None)]), "images[0]: expected an image or its URL, got NoneType."),
        (object(), "The result of look is not JSON: it contains a value of the type object."),
        ({"a": [object()]}, "The result of look is not JSON: it contains a value of the type object."),
        ({(1, 2): 3}, "The result of look is not JSON."),
        (ToolReturn(DEEP), "The result of look is nested"),
    ],
)
async def test_an_unusable_result_is_a_failed_call(returned: Any, words: str) -> None:
    """The program and the model read what is wrong, and the run goes on."""

    @tool
    def look() -> Any:
        return returned

    with model_that(calls(LOOK), answers("Done.")) as model:
        run = Runner(model.upstream, "openai/sim", "Look.", tools=[look])
        results = [result async for step in run for result in await step.results()]
        assert (await run.answer()).text == "Done."
    assert [(one.success, one.code) for one in results] == [(False, "TOOL_FAILED")]
    assert words in results[0].error
    assert words in str(model.results(2))


async def test_results_with_surrogates_and_urls_are_sent() -> None:
    """Lone surrogates of a result become U+FFFD; an image of a result may be a URL."""

    @tool
    def look() -> ToolReturn:
        return ToolReturn({HALF: HALF}, images=["https://a.test/b.png"])

    with model_that(calls(LOOK), answers("Done.")) as model:
        assert (await Runner(model.upstream, "openai/sim", "Look.", tools=[look]).answer()).text == "Done."
    assert "\ufffd" in str(model.results(2))
    assert model.requests[1]["messages"][3]["content"][1]["image_url"]["url"] == "https://a.test/b.png"
