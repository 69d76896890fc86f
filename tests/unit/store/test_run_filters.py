"""Filters and statistics of runs in SQLite, PostgreSQL and memory."""

from typing import Any

import pytest
from msgspec.structs import replace
from signalbox.core.parts import Usage
from signalbox.core.records import RunFilter
from signalbox.store.engines.portable_sql import floor_of
from signalbox.store.runs.in_memory import MemoryStore
from signalbox.store.runs.journal import JournalStore
from signalbox.store.runs.run_list import conditions_of
from signalbox.store.runs.run_stats import Percentiles, run_stats
from signalbox.store.tables import RUNS as TABLE
from sqlalchemy import Connection, func, select, text

from tests.support.disk import Disk, a_run

pytestmark = pytest.mark.anyio

ANSWERED = ({"model": "openai/sim", "served_model": "c/d-2026", "fallback_model": "c/d"},)
RUNS: list[dict[str, Any]] = [
    {"owner": "a", "status": "complete", "tools": ("search_web", "calculate"), "first_token_ms": 100},
    {"owner": "a", "status": "error", "code": "STREAM_CUT", "first_token_ms": 300},
    {"owner": "b", "status": "complete", "model": "x/y", "tools": ("search",), "first_token_ms": 200},
    {"owner": "b", "protocol": "ag-ui", "tools": ("calculate",)},
    {"owner": "", "status": "complete", "loop": "legacy", "first_token_ms": 50, "attempts": ANSWERED},
]


async def fill(store: JournalStore | MemoryStore) -> None:
    """Store the runs; each starts a minute after the one before it."""
    for place, fields in enumerate(RUNS):
        started = 600.0 + 60 * place
        over = {"ended": started + place + 1, "usage": Usage(cost=0.5)} if "status" in fields else {}
        record = replace(a_run(f"run{place}"), started=started, **{**fields, **over})
        await store.open(record, lambda seq, reserved: None)


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({}, "43210"),
        ({"owners": ["a"]}, "10"),
        ({"owners": ["a", "b"], "statuses": ["complete"]}, "20"),
        ({"statuses": [None]}, "3"),
        ({"statuses": [None, "error"]}, "31"),
        ({"codes": ["STREAM_CUT"]}, "1"),
        ({"models": ["x/y"]}, "2"),
        ({"models": ["x/y", "c/d"]}, "42"),
        ({"models": [a_run("any").model]}, "310"),
        ({"loops": ["legacy"]}, "4"),
        ({"protocols": ["ag-ui"]}, "3"),
        ({"tools": ["search"]}, "2"),
        ({"tools": ["search", "calculate"]}, "320"),
        ({"since": 660.0, "until": 780.0}, "21"),
    ],
)
async def test_filters_find_the_same_runs_everywhere(
    disk: Disk, store: JournalStore, fields: dict[str, Any], wanted: str
) -> None:
    """Every field selects by its values, in a database as in memory."""
    for kept in (store, MemoryStore()):
        await fill(kept)
        assert "".join(run.id[-1] for run in await kept.recent(9, wanted=RunFilter(**fields))) == wanted
        [first, *_] = await kept.recent(1)
        assert await kept.recent(9, (first.started, first.id), RunFilter(**fields)) == [
            run for run in await kept.recent(9, wanted=RunFilter(**fields)) if run.id != first.id
        ]


async def test_tools_and_first_token_are_stored(disk: Disk, store: JournalStore) -> None:
    """A stored run has the names of its tools and the time of its first part."""
    await fill(store)
    found = await store.find("run0")
    assert found is not None
    assert (found.tools, found.first_token_ms) == (("search_web", "calculate"), 100)


async def test_runs_of_an_earlier_version_have_their_first_token(disk: Disk, store: JournalStore) -> None:
    """The columns are null; the time is in the attempts, and no tool is known."""
    record = a_run("old", started=5.0, attempts=({"first_part": 5.25},), ended=6.0, status="complete")
    await store.open(record, lambda seq, reserved: None)
    await disk.write(lambda c: c.execute(text("UPDATE runs SET tools = NULL, first_token_ms = NULL")))
    found = await store.find("old")
    assert found is not None
    assert (found.tools, found.first_token_ms) == ((), 250)
    assert await store.recent(9, wanted=RunFilter(tools=["x"])) == []


async def test_statistics_by_time_and_loop(disk: Disk, store: JournalStore) -> None:
    """Each bucket has the runs of one loop; percentiles are nearest ranks, and active runs have no duration."""
    await fill(store)
    legacy, *rest = sorted(await disk.read(run_stats, RunFilter(), 600), key=lambda one: one.loop)
    assert (legacy.start, legacy.statuses, legacy.duration_ms) == (600, {"complete": 1}, Percentiles(5000, 5000))
    [v2] = rest
    assert (v2.start, v2.loop, v2.cost) == (600, "v2", 1.5)
    assert v2.statuses == {"complete": 2, "error": 1, None: 1}
    assert (v2.first_token_ms, v2.duration_ms) == (Percentiles(200, 300), Percentiles(2000, 3000))
    assert v2.at_limit == 0
    minutes = await disk.read(run_stats, RunFilter(since=660.0, until=780.0), 60)
    assert [(one.start, one.loop, one.statuses) for one in minutes] == [
        (660, "v2", {"error": 1}),
        (720, "v2", {"complete": 1}),
    ]


async def test_statistics_tell_limits_from_failures(disk: Disk, store: JournalStore) -> None:
    """Both are `interrupted`."""
    for place, code in enumerate(("BUDGET_EXHAUSTED", "BUDGET_REACHED", "STREAM_CUT")):
        record = replace(a_run(f"run{place}"), started=600.0, ended=601.0, status="interrupted", code=code)
        await store.open(record, lambda seq, reserved: None)
    [found] = await disk.read(run_stats, RunFilter(), 600)
    assert (found.statuses, found.at_limit) == ({"interrupted": 3}, 2)


async def test_filters_and_statistics_read_an_index_alone(disk: Disk, store: JournalStore) -> None:
    """SQLite must not read the rows, which may contain questions of megabytes."""
    await fill(store)

    wanted = RunFilter(models=["x"], statuses=["error"], since=5.0)
    listed = select(TABLE.c.id).where(*conditions_of(wanted)).order_by(TABLE.c.started.desc(), TABLE.c.id.desc())
    groups = floor_of(TABLE.c.started / 60.0), TABLE.c.loop, TABLE.c.status
    counted = select(*groups, func.count(), func.sum(TABLE.c.cost), func.max(TABLE.c.first_token_ms))

    def plans(connection: Connection) -> list[str]:
        asked = (listed.limit(9), counted.where(*conditions_of(wanted)).group_by(*groups))
        made = (str(one.compile(connection, compile_kwargs={"literal_binds": True})) for one in asked)
        return [str(connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {one}").all()) for one in made]

    if disk.is_shared:
        pytest.skip("PostgreSQL stores large values outside of rows")
    for plan in await disk.read(plans):
        assert "COVERING INDEX runs_by_figures" in plan
