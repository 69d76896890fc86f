"""Hostile results of tools: each becomes one outcome within the limits, and large ones are offloaded."""

import threading
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext, ToolOutcome, ToolSpec
from signalbox.services import tool_executor
from signalbox.services.tool_executor import ToolExecutor
from signalbox.services.tool_results import MOST_CHARACTERS, ExcessiveResultError, Written, as_json, measured
from signalbox.tools.plugin_thread import PluginThread
from signalbox.tools.plugin_tool import isolated

from tests.support.hostile.tool_results import REFUSED, RESULTS

pytestmark = pytest.mark.anyio

NOTHING: JsonObject = {"type": "object", "properties": {}}
LIMIT = 24_000


def returning(value: Any) -> Tool:
    """Return a tool with this result."""

    async def run(arguments: JsonObject, context: ToolContext) -> JsonValue:
        return value

    return Tool(ToolSpec("probe", "A probe.", NOTHING), run)


async def outcome_of(tool: Tool) -> ToolOutcome:
    """Run a tool once."""
    return await ToolExecutor([tool], result_limit=LIMIT).run("probe", {}, ToolContext(run_id="r1"))


@pytest.mark.parametrize("in_plugin", [False, True], ids=["own", "plugin"])
@pytest.mark.parametrize("kind", RESULTS)
async def test_each_hostile_result_becomes_one_outcome_within_the_bounds(kind: str, in_plugin: bool):
    """A long result is cut; one that exceeds a hard limit is a failure with a reason."""
    tool = returning(RESULTS[kind](400_000))
    thread = PluginThread("hostile") if in_plugin else None
    try:
        outcome = await outcome_of(isolated(tool, thread) if thread else tool)
    finally:
        if thread is not None:
            thread.close()
    assert outcome.success is (kind not in REFUSED), outcome.error
    assert len(outcome.for_model()) <= LIMIT
    assert outcome.success or (outcome.code is Code.TOOL_FAILED and outcome.error.startswith("The result of probe "))


@pytest.mark.parametrize(("length", "name"), [(10, "MainThread"), (100_000, "offload_0")])
async def test_a_large_result_leaves_the_event_loop(length: int, name: str, monkeypatch: pytest.MonkeyPatch):
    """A short result is encoded inline, a long one in the offload thread."""
    threads: list[str] = []

    def seen(result: object) -> Written:
        threads.append(threading.current_thread().name)
        return as_json(result)

    monkeypatch.setattr(tool_executor, "as_json", seen)
    await outcome_of(returning({"text": ["x" * length]}))
    assert threads == [name]


class Counted(list[Any]):
    """A list that counts accesses to its values."""

    looks = 0

    def __iter__(self) -> Any:
        Counted.looks += 1
        return super().__iter__()


def test_shared_values_count_at_each_occurrence():
    """A list of one list twice, 40 levels deep, stops at the limit."""
    value: Any = ["x"]
    for _ in range(40):
        value = Counted([value, value])
    Counted.looks = 0
    with pytest.raises(ExcessiveResultError, match="longer than 16 MB"):
        as_json(value)
    assert Counted.looks < MOST_CHARACTERS // 8


def test_measuring_stops_at_the_limit():
    """Only the first values of a large result are counted."""
    value: Any = ["x"]
    for _ in range(40):
        value = Counted([value, value])
    Counted.looks = 0
    assert measured(value, 1_000) > 1_000
    assert Counted.looks < 1_000


class Colour(Enum):
    RED = "red"
    LONG = ("x" * MOST_CHARACTERS,)


@dataclass
class Point:
    x: int
    label: Any


def test_data_classes_and_enumerations_are_measured_as_they_are_written():
    """Values in fields and members count as in JSON."""
    assert as_json(Point(1, Colour.RED)).capped(LIMIT) == {"x": 1, "label": "red"}
    for value in (Point(1, "x" * MOST_CHARACTERS), Colour.LONG):
        with pytest.raises(ExcessiveResultError):
            as_json(value)


def test_keys_are_written_as_json_writes_them():
    """Numbers, true and null become text keys; other keys are an error."""
    value = {2: "a", 2**70: "b", None: "c", True: "d"}
    assert as_json(value).capped(LIMIT) == {"2": "a", str(2**70): "b", "null": "c", "true": "d"}
    with pytest.raises(TypeError):
        as_json({(1, 2): "x"})
