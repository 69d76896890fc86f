"""Statistics of runs by time and loop: outcomes, percentiles of times, and costs."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import Column, ColumnElement, Connection, Integer, cast, func, select

from signalbox.core.bounds.run_limits import RUN_LIMITS
from signalbox.core.records import RunFilter
from signalbox.store.engines.portable_sql import floor_of
from signalbox.store.runs.run_list import conditions_of
from signalbox.store.tables import RUNS

Group = tuple[int, str]

_PERCENTILES = (50, 95)


class Percentiles(Struct, frozen=True):
    """Percentiles of a time in milliseconds: each is one of the measured values, by nearest rank."""

    p50: int
    p95: int


class RunStats(Struct):
    """The runs of one loop that started in one bucket of time; `start` is its beginning in epoch seconds.

    `statuses` counts the runs by status, None is an active run. `at_limit` of those that are `interrupted` ended at a
    limit. Times are None if no run of the bucket has one.
    """

    start: int
    loop: str
    statuses: dict[str | None, int]
    cost: float
    at_limit: int = 0
    first_token_ms: Percentiles | None = None
    duration_ms: Percentiles | None = None


def run_stats(connection: Connection, wanted: RunFilter, bucket_seconds: int) -> list[RunStats]:
    """Return the statistics of the runs that match, in order of time and loop. Empty buckets are left out."""
    where = conditions_of(wanted)
    bucket = floor_of(RUNS.c.started / float(bucket_seconds))
    found = _outcomes(connection, bucket, where)
    duration = cast(func.round((RUNS.c.ended - RUNS.c.started) * 1000.0), Integer)
    first, whole = (_percentiles(connection, bucket, where, value) for value in (RUNS.c.first_token_ms, duration))
    for group, stats in found.items():
        stats.start = group[0] * bucket_seconds
        stats.first_token_ms, stats.duration_ms = first.get(group), whole.get(group)
    return [found[group] for group in sorted(found)]


def _outcomes(
    connection: Connection, bucket: ColumnElement[int], where: Sequence[ColumnElement[bool]]
) -> dict[Group, RunStats]:
    by = bucket.label("bucket"), RUNS.c.loop, RUNS.c.status
    at_limit = func.count().filter(RUNS.c.status == "interrupted", RUNS.c.code.in_(sorted(RUN_LIMITS)))
    cost = func.coalesce(func.sum(RUNS.c.cost), 0.0).label("cost")
    asked = select(*by, func.count().label("runs"), at_limit.label("at_limit"), cost)
    found: dict[Group, RunStats] = {}
    for row in connection.execute(asked.where(*where).group_by(*by)):
        group = row.bucket, row.loop
        stats = found.setdefault(group, RunStats(0, row.loop, {}, 0.0))
        stats.statuses[row.status] = row.runs
        stats.cost += row.cost
        stats.at_limit += row.at_limit
    return found


def _percentiles(
    connection: Connection,
    bucket: ColumnElement[int],
    where: Sequence[ColumnElement[bool]],
    value: ColumnElement[int] | Column[Any],
) -> Mapping[Group, Percentiles]:
    """Return the percentiles of a value by group. SQLite has no function for them; both databases can rank rows."""
    rows = (
        select(bucket.label("bucket"), RUNS.c.loop, value.label("value")).where(*where, value.is_not(None)).subquery()
    )
    by = (rows.c.bucket, rows.c.loop)
    ranked = select(
        rows,
        func.row_number().over(partition_by=by, order_by=rows.c.value).label("rank"),
        func.count().over(partition_by=by).label("most"),
    ).subquery()
    rank, most = ranked.c.rank * 100, ranked.c.most
    p50, p95 = (func.min(ranked.c.value).filter(rank >= most * percent) for percent in _PERCENTILES)
    asked = select(ranked.c.bucket, ranked.c.loop, p50.label("p50"), p95.label("p95"))
    rows_found = connection.execute(asked.group_by(ranked.c.bucket, ranked.c.loop))
    return {(row.bucket, row.loop): Percentiles(row.p50, row.p95) for row in rows_found}
