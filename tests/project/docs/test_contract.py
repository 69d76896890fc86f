"""docs/sse-contract.md lists every field, status, code and header of the contract."""

import asyncio
from typing import get_args

import pytest
from signalbox.core.codes import CODES, Code
from signalbox.core.events import VERSION, Category, LoopName, Status, Visibility
from signalbox.encoders.check import schema
from signalbox.encoders.sse_v1 import SseV1Encoder

from tests.project.docs.pages import codes_in, page, rows
from tests.project.docs.tables import code_tables, with_tables
from tests.scenarios.contract.golden import FIXTURES

PAGE = page("sse-contract.md")
STREAMS = sorted(FIXTURES.glob("*.sse"))
EVENTS = {tag: ref.rpartition("/")[2] for tag, ref in schema()["discriminator"]["mapping"].items()}  # type: ignore[index,union-attr]
DEFS = schema()["$defs"]


def _named(section: str) -> set[str]:
    """Return the field names in the first column of a section's table."""
    return {code for cells in rows(PAGE.section(section)) for code in codes_in(cells[0])}


@pytest.mark.parametrize("event", EVENTS)
def test_every_field_of_an_event_is_in_its_table(event: str) -> None:
    """The table of an event, with the common fields, matches the schema."""
    wanted = set(DEFS[EVENTS[event]]["properties"])  # type: ignore[index,call-overload,arg-type]
    common = _named("Common fields")
    own = {name.partition("[")[0].partition(".")[0] for name in _named(event)}
    assert wanted <= own | common
    assert own <= wanted


@pytest.mark.parametrize(("event", "field", "part"), [("tool_calls", "calls[].", "Call")])
def test_every_field_of_a_call_is_there(event: str, field: str, part: str) -> None:
    """The fields of an announced call are listed."""
    wanted = {f"{field}{name}" for name in DEFS[part]["properties"]}  # type: ignore[index,call-overload]
    assert wanted == {name for name in _named(event) if name.startswith(field)}


@pytest.mark.parametrize(("field", "part"), [("usage", "UsageTotals"), ("flag", "Flag")])
def test_every_field_inside_done_is_there(field: str, part: str) -> None:
    """The fields of usage and flag are listed."""
    wanted = {f"{field}.{name}" for name in DEFS[part]["properties"]}  # type: ignore[index,call-overload]
    assert wanted <= codes_in(PAGE.section("done"))


def test_every_status_word_and_header_is_there() -> None:
    """Statuses, categories, visibilities, loops, the version and the headers are listed."""
    assert _named("Statuses") == set(get_args(Status))
    assert {*get_args(Category), *get_args(Visibility)} <= codes_in(PAGE.section("tool_calls"))
    assert set(get_args(LoopName)) <= codes_in(PAGE.section("Common fields"))
    headers = _named("Response headers")
    conversation = {"x-conversation-id", "x-message-id"}
    assert {*SseV1Encoder.headers, "x-request-id", "x-run-id", "x-tool-loop", "content-type"} | conversation == headers
    assert PAGE.text.startswith(f"# The event contract v{VERSION}\n")


def test_the_code_tables_are_those_of_the_code() -> None:
    """The tables match core/codes.py; `python -m tests.project.docs.tables` writes them."""
    assert with_tables(PAGE.text) == PAGE.text
    listed = [cells for table in code_tables().values() for cells in rows(table)]
    assert [cells[0] for cells in listed] == [f"`{code}`" for code in Code]
    assert all(CODES[code].sentence in cells for code, cells in zip(Code, listed, strict=True))
    assert all(table in PAGE.text for table in code_tables().values())


def test_the_sample_test_of_the_testing_page_passes() -> None:
    """The example test of docs/testing.md passes."""
    [code] = page("testing.md").blocks("python")
    names: dict[str, object] = {}
    exec(compile(code, "docs/testing.md", "exec"), names)
    [test] = [value for name, value in names.items() if name.startswith("test_")]
    asyncio.run(test())  # type: ignore[operator]
