"""The rollout as rows: its plan, its report with the lease of the worker that evaluates it, and the ended runs."""

from collections.abc import Callable, Sequence

from msgspec import Struct, json
from sqlalchemy import Connection, select

from signalbox.core.operation.audit import Entry
from signalbox.core.records import RunRecord
from signalbox.store.audit import add_audit
from signalbox.store.database import Work
from signalbox.store.engines.portable_sql import insert_into
from signalbox.store.runs.rows import FIGURES, record_of
from signalbox.store.shared_values import get_shared, put_shared
from signalbox.store.tables import RUNS, SHARED

_PLAN, _REPORT = "rollout", "rollout_report"


class Report(Struct, frozen=True):
    """What one worker found when it last evaluated the plan, and until when no other worker evaluates."""

    worker: str
    until: float
    plan_id: str = ""
    body: bytes = b"{}"


_DECODER = json.Decoder(Report)


def get_plan(connection: Connection) -> bytes | None:
    """Return the plan as JSON, None if there never was one."""
    return get_shared(connection, _PLAN)


class PlanChange(Struct, frozen=True):
    """A plan as JSON, None to keep the old one, and what is written with it: audit entries, and further work."""

    plan: bytes | None = None
    entries: Sequence[Entry] = ()
    also: Sequence[Work[object]] = ()


def change_plan(connection: Connection, change: Callable[[bytes | None], PlanChange]) -> bytes | None:
    """Replace the plan by what `change` makes of it, write what belongs to it, and return the stored plan.

    Of concurrent callers, the second sees the result of the first.
    """
    before = connection.execute(select(SHARED.c.value).where(SHARED.c.name == _PLAN).with_for_update()).scalar()
    made = change(before)
    for entry in made.entries:
        add_audit(connection, entry)
    for work in made.also:
        work(connection)
    if made.plan is None:
        return before
    put_shared(connection, _PLAN, made.plan)
    return made.plan


def get_report(connection: Connection) -> Report | None:
    """Return the latest report."""
    found = get_shared(connection, _REPORT)
    return _DECODER.decode(found) if found else None


def claim(connection: Connection, worker: str, now: float, seconds: float) -> bool:
    """Claim the evaluation for this worker; return False while another worker has it."""
    first = json.encode(Report(worker, now + seconds))
    connection.execute(insert_into(connection, SHARED).values(name=_REPORT, value=first).on_conflict_do_nothing())
    asked = select(SHARED.c.value).where(SHARED.c.name == _REPORT).with_for_update()
    found = _DECODER.decode(connection.execute(asked).scalar_one())
    if found.worker != worker and found.until > now:
        return False
    put_shared(connection, _REPORT, json.encode(Report(worker, now + seconds, found.plan_id, found.body)))
    return True


def put_report(connection: Connection, report: Report) -> None:
    """Store a report, which also renews the lease."""
    put_shared(connection, _REPORT, json.encode(report))


def ended_runs(connection: Connection, since: float, after: tuple[float, str], limit: int) -> list[RunRecord]:
    """Return runs that ended since then, in the order of their ends, after this end and run; without questions."""
    ended, run_id = after
    asked = select(*FIGURES).where(RUNS.c.ended >= max(since, ended)).order_by(RUNS.c.ended, RUNS.c.id)
    asked = asked.where((RUNS.c.ended > ended) | (RUNS.c.id > run_id)).limit(limit)
    return [record_of(row) for row in connection.execute(asked).mappings()]
