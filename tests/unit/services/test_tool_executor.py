"""The executor: timeouts, exceptions as results, strict and limited results."""

import asyncio
import json
import math
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest
from signalbox.core.codes import CODES, Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext, ToolOutcome, ToolSpec
from signalbox.services.search.docs import DocsSearch
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.registry import built_in
from structlog.testing import capture_logs

from tests.unit.services.scripted_tools import NOTHING, Run, executor, returning

pytestmark = pytest.mark.anyio


def raising(error: BaseException) -> Run:
    """Return a tool that raises."""

    async def run(arguments: JsonObject, context: ToolContext) -> Any:
        raise error

    return run


async def outcome_of(run: Run, **settings: Any) -> ToolOutcome:
    """Run a tool once."""
    return await executor(run, **settings).run("probe", {}, ToolContext(run_id="r1"))


async def test_a14_an_unknown_tool_gets_the_known_names():
    """The result of an unknown tool names the tools that may be called (quirk A14)."""
    subject = executor(returning(1))
    for outcome in (subject.check("default_api.probe", {}), await subject.run("default_api.probe", {}, ToolContext())):
        assert outcome is not None
        assert outcome.code is Code.UNKNOWN_TOOL
        assert outcome.error == 'there is no tool "default_api.probe"; the tools are: probe'


async def test_an_unavailable_tool_is_listed_and_not_offered():
    """GET /api/tools has the tool with its reason; models do not get it, and a call returns the reason."""
    tool = Tool(ToolSpec("gone", "Gone.", NOTHING), returning(1), unavailable="no key is set")
    subject = ToolExecutor([tool])
    assert subject.tools == (tool,)
    assert subject.spec("gone") is None
    assert subject.check("gone", {}) == ToolOutcome.failed(
        Code.TOOL_UNAVAILABLE, "gone is not available: no key is set"
    )
    assert (await subject.run("gone", {}, ToolContext())).code is Code.TOOL_UNAVAILABLE


def test_two_tools_of_one_name_are_rejected():
    """The second one would never run."""
    tool = Tool(ToolSpec("twin", "Twin.", NOTHING), returning(1))
    with pytest.raises(ValueError, match="two tools have the same name, twin"):
        ToolExecutor([tool, tool])


async def test_ps19_a_slow_tool_times_out():
    """The limit is that of the tool, and the message has it."""

    async def run(arguments: JsonObject, context: ToolContext) -> JsonValue:
        await asyncio.Event().wait()
        return None

    loop = asyncio.get_running_loop()
    begin = loop.time()
    outcome = await outcome_of(run, timeout=0.05)
    assert loop.time() - begin < 0.5
    assert outcome == ToolOutcome.failed(Code.TIMEOUT, "probe did not answer within 0.05 s")


async def test_a_late_result_is_discarded():
    """A tool that ignores its cancellation fails with its timeout, although it returns a result."""

    async def run(arguments: JsonObject, context: ToolContext) -> JsonValue:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "late"

    outcome = await outcome_of(run, timeout=0.05)
    assert (outcome.success, outcome.code, outcome.result) == (False, Code.TIMEOUT, None)


async def test_a_timeout_inside_a_tool_is_one_too():
    """A TimeoutError of the tool is TIMEOUT, without the executor's limit."""
    assert await outcome_of(raising(TimeoutError())) == ToolOutcome.failed(Code.TIMEOUT, "probe did not answer in time")


async def test_a_tools_error_is_kept():
    """The model receives the code and message of a ToolError."""
    outcome = await outcome_of(raising(ToolError(Code.RATE_LIMIT, "asked too often")))
    assert outcome == ToolOutcome(False, error="asked too often", code=Code.RATE_LIMIT, untrusted=True)
    assert (await outcome_of(raising(ToolError(Code.TOOL_FAILED)))).error == CODES[Code.TOOL_FAILED].sentence


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("sk-or-secret"),
        KeyError("sk-or-secret"),
        RecursionError("sk-or-secret"),
        ExceptionGroup("sk-or-secret", [ValueError("sk-or-secret")]),
        SystemExit("sk-or-secret"),
        KeyboardInterrupt("sk-or-secret"),
        GeneratorExit("sk-or-secret"),
        asyncio.CancelledError("sk-or-secret"),
        BaseException("sk-or-secret"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_sc14_every_exception_is_a_result_without_its_text(error: BaseException):
    """Neither the model nor the log gets the message, which may contain a key; the log has file and line."""
    with capture_logs() as logs:
        outcome = await outcome_of(raising(error))
    assert outcome.code is Code.TOOL_FAILED
    assert "sk-or-secret" not in outcome.error
    assert logs == [
        {
            "event": "tool.failed",
            "log_level": "warning",
            "tool": "probe",
            "error": type(error).__name__,
            "raised_at": f"{__file__}:{raising.__code__.co_firstlineno + 4}",
            "run_id": "r1",
        }
    ]


async def test_a_tool_error_with_invalid_attributes_is_a_failure():
    """A subclass may have any code and message."""

    class OddError(ToolError):
        def __init__(self, **given: Any) -> None:
            super().__init__(Code.RATE_LIMIT, "asked too often")
            vars(self).update(given)

    for odd in (OddError(message=5), OddError(message=None), OddError(code="WHAT"), OddError(code=None)):
        assert (await outcome_of(raising(odd))).code is Code.TOOL_FAILED
    assert (await outcome_of(raising(OddError()))).code is Code.RATE_LIMIT


async def test_cancellation_is_raised():
    """Stopping a run cancels its tools."""
    begun = asyncio.Event()

    async def run(arguments: JsonObject, context: ToolContext) -> JsonValue:
        begun.set()
        await asyncio.Event().wait()
        return None

    task = asyncio.create_task(outcome_of(run))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_inside_a_tool_is_a_failure():
    """If a task of the tool is cancelled, the tool fails and the run continues."""

    async def run(arguments: JsonObject, context: ToolContext) -> JsonValue:
        inner = asyncio.create_task(asyncio.Event().wait())
        inner.cancel()
        return await inner

    assert (await outcome_of(run)).code is Code.TOOL_FAILED


async def test_a_quick_tool_runs_in_place():
    """It runs without another thread or an iteration of the event loop."""
    turns: list[int] = []
    asyncio.get_running_loop().call_soon(turns.append, 1)

    async def run(arguments: JsonObject, context: ToolContext) -> JsonValue:
        return threading.get_ident()

    assert (await outcome_of(run)).result == threading.get_ident()
    assert turns == []


class Odd:
    """A value that JSON cannot express."""


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ({"a": [1, 2.5, "x", None, True]}, {"a": [1, 2.5, "x", None, True]}),
        ([math.nan, math.inf, -math.inf], [None, None, None]),
        ({"n": 2**64, "m": -(2**70), "k": 2**64 - 1}, {"n": str(2**64), "m": str(-(2**70)), "k": 2**64 - 1}),
        ({"a\ud800": "b\udfffc", "n": math.nan}, {"a\ufffd\ufffd\ufffd": "b\ufffd\ufffd\ufffdc", "n": None}),
        ("", ""),
        (None, None),
    ],
)
async def test_ps23_a_result_is_strict_json(value: Any, result: JsonValue):
    """NaN and Infinity become null, integers beyond 64 bits text, lone surrogates replacement characters."""
    outcome = await outcome_of(returning(value))
    assert (outcome.success, outcome.result) == (True, result)
    json.dumps(outcome.result, allow_nan=False).encode()
    outcome.for_model().encode()


CIRCLE: list[Any] = []


CIRCLE.append(CIRCLE)


@pytest.mark.parametrize("value", [Odd(), {"a": Odd()}, {1, 2}, b"x", (1 + 2j), CIRCLE, {"n": 10**5_000}])
async def test_a_result_that_is_no_json_is_a_failure(value: Any):
    """Such a result never becomes an event."""
    assert (await outcome_of(returning(value))).code is Code.TOOL_FAILED


async def test_g05_a_long_result_is_cut_and_says_so():
    """Head and tail are kept, the result stays JSON, and a note asks for less (quirk G5)."""
    rows = [f'row "{i}"' for i in range(10_000)]
    outcome = await outcome_of(returning({"rows": rows}), limit=2_000)
    assert outcome.success
    assert isinstance(outcome.result, dict)
    text = str(outcome.result["text"])
    whole = len(orjson.dumps({"rows": rows}))
    assert text.startswith('{"rows":["row')
    assert text.endswith('9999\\""]}')
    kept = len(text) - len("\n…\n")
    assert outcome.result["truncated"] == f"kept {kept:,} of {whole:,} characters; ask for less"
    assert 1_500 < len(outcome.for_model()) <= 2_000


@pytest.mark.parametrize("text", ["x" * 159_000, '"\\' * 50_000, "\x01" * 50_000, "😀" * 50_000])
async def test_g05_no_text_outgrows_the_limit(text: str):
    """Escapes count towards the limit."""
    outcome = await outcome_of(returning(text))
    assert isinstance(outcome.result, dict)
    assert 20_000 < len(orjson.dumps(outcome.result).decode()) <= 24_000


async def test_g05_a_result_within_the_limit_is_whole():
    """A result of exactly the limit is not cut."""
    assert (await outcome_of(returning("x" * 98), limit=100)).result == "x" * 98
    assert (await outcome_of(returning("x" * 99), limit=100)).result != "x" * 99


async def test_the_built_in_tools_work_together(tmp_path: Path):
    """Every built-in tool is checked and run as a loop does it, over a real folder."""
    (tmp_path / "pandas.md").write_text("# Pandas\n\nThey eat bamboo.\n")
    search = DocsSearch(tmp_path)
    subject = ToolExecutor(built_in(search, None))
    calls: dict[str, JsonObject] = {
        "search_web": {"query": "what do pandas eat?", "num_results": 1},
        "get_current_time": {"timezone": "Asia/Tokyo"},
        "calculate": {"expression": "2 + 2"},
    }
    context = ToolContext()
    for name, arguments in calls.items():
        assert subject.spec(name) is not None
        assert subject.check(name, arguments) is None
        outcome = await subject.run(name, arguments, context)
        assert outcome.success, outcome
        assert orjson.loads(outcome.for_model()) == outcome.result
    assert context.sources.titles == {1: ("Pandas", "/guide/pandas.md#pandas")}
    search.close()
