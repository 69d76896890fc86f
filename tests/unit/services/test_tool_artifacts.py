"""Artifacts of tool results: strict JSON within a limit, valid tables, and never for the model."""

from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.data_table import Column, CurrencyFormat, DataTable
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject
from signalbox.core.tools import LARGEST_ARTIFACT, Tool, ToolContext, ToolOutcome, ToolReturn, ToolSpec
from signalbox.services.tool_executor import ToolExecutor
from structlog.testing import capture_logs

pytestmark = pytest.mark.anyio

PRICE = Column("price", "Price", CurrencyFormat("USD"))


async def outcome_of(returned: object) -> ToolOutcome:
    """Run a tool that returns or raises this."""

    async def run(arguments: JsonObject, context: ToolContext) -> Any:
        if isinstance(returned, Exception):
            raise returned
        return returned

    spec = ToolSpec("probe", "A probe.", {"type": "object", "properties": {}})
    return await ToolExecutor([Tool(spec, run)]).run("probe", {}, ToolContext(run_id="r1"))


def prices(*values: object) -> DataTable:
    """Return a table of prices."""
    return DataTable(surface_id="s1", columns=[PRICE], data=[{"price": value} for value in values])  # type: ignore[dict-item]


async def test_the_model_gets_only_the_result() -> None:
    """The artifact is a separate field of the outcome; any JSON value may be one."""
    outcome = await outcome_of(ToolReturn({"count": 2}, {"rows": [1, 2]}))
    assert (outcome.success, outcome.result, outcome.artifact) == (True, {"count": 2}, {"rows": [1, 2]})
    assert outcome.for_model() == '{"count":2}'
    assert (await outcome_of(ToolReturn("plain"))).artifact is None
    assert (await outcome_of({"count": 2})).artifact is None


async def test_it_becomes_strict_json() -> None:
    """NaN becomes null and lone surrogates are replaced, as in results; it is a copy."""
    given: dict[str, Any] = {"ratio": float("nan"), "text": "\ud800", "list": [1]}
    outcome = await outcome_of(ToolReturn(None, given))
    given["list"].append(2)
    assert outcome.artifact == {"ratio": None, "text": "���", "list": [1]}


async def test_a_data_table_becomes_json() -> None:
    """As documented, with numbers as numbers."""
    outcome = await outcome_of(ToolReturn("two", prices(12.5, 900)))
    assert outcome.artifact == {
        "surfaceId": "s1",
        "columns": [{"key": "price", "label": "Price", "format": {"kind": "currency", "currency": "USD"}}],
        "data": [{"price": 12.5}, {"price": 900}],
    }


@pytest.mark.parametrize("rows", [1_000, 3_000])
async def test_a_large_table(rows: int) -> None:
    """A thousand rows fit."""
    row: dict[str, Any] = {"price": 12.5, "name": "A mug with a name", "url": "https://shop.example/mug", "n": 3}
    outcome = await outcome_of(ToolReturn("many", DataTable(surface_id="s1", columns=[PRICE], data=[row] * rows)))
    if rows == 1_000:
        assert isinstance(outcome.artifact, dict)
        assert outcome.artifact["data"] == [row] * rows
    else:
        assert (outcome.success, outcome.code) == (False, Code.TOOL_FAILED)
        assert outcome.error == "The artifact of probe is longer than 512 KB of JSON."


async def test_what_cannot_be_sent_fails_the_call() -> None:
    """With a sentence that names the tool and the reason, and a line in the log."""
    loop: list[object] = []
    loop.append(loop)
    unusable = {
        "is longer than 512 KB of JSON": "x" * LARGEST_ARTIFACT,
        "is nested more than 200 levels deep": loop,
        "is not JSON": {"when": object()},
        "is not a valid DataTable: data[0].price: expected a number": prices("$12.50"),
        "is not a valid DataTable: Expected `array`, got `str` - at `columns`": {
            "surfaceId": "s1",
            "columns": "price",
            "data": [],
        },
    }
    for reason, artifact in unusable.items():
        with capture_logs() as logs:
            outcome = await outcome_of(ToolReturn("fine", artifact))  # type: ignore[arg-type]
        assert (outcome.success, outcome.code, outcome.error) == (
            False,
            Code.TOOL_FAILED,
            f"The artifact of probe {reason}.",
        )
        assert outcome.artifact is None
        assert [(line["event"], line["reason"]) for line in logs] == [("tool.artifact_rejected", reason)]


async def test_a_failure_may_have_an_artifact() -> None:
    """Such as a table with the reason; an unusable one does not hide the failure."""
    table = DataTable(surface_id="s1", columns=[PRICE], data=[], error="The shop is closed.")
    outcome = await outcome_of(ToolError(Code.TIMEOUT, "The shop is closed.", artifact=table))
    assert (outcome.code, outcome.error) == (Code.TIMEOUT, "The shop is closed.")
    assert outcome.artifact == {
        "surfaceId": "s1",
        "columns": [{"key": "price", "label": "Price", "format": {"kind": "currency", "currency": "USD"}}],
        "data": [],
        "error": "The shop is closed.",
    }
    assert "surfaceId" not in outcome.for_model()
    with capture_logs() as logs:
        broken = await outcome_of(ToolError(Code.TIMEOUT, "The shop is closed.", artifact=prices("free")))
    assert (broken.code, broken.error, broken.artifact) == (Code.TIMEOUT, "The shop is closed.", None)
    assert [line["event"] for line in logs] == ["tool.artifact_rejected"]


def test_surface_ids_are_unique() -> None:
    """In one run and in different ones."""
    contexts = [ToolContext(run_id="r1"), ToolContext(run_id="r2")]
    made = [context.surface_id(name) for context in contexts for name in ("mugs", "mugs", "plates")]
    assert len(set(made)) == 6
    assert made[:2] == ["mugs-r1-1", "mugs-r1-2"]
