"""What runs under way have said since they were last filed in the journal: one row per flush for all of them together.

A row of the journal for each run and each flush touches a page of its index for each run: with a hundred streams that
kept the writing thread busy for 4 ms of every 80. So a run is filed when somebody waits for it or asks for its record,
when its figures change and at its end, or else every few seconds; what lies between is here. It is read by nobody but a
start behind a crash, which files it.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import takewhile

import structlog
from msgspec import MsgspecError, json
from sqlalchemy import Connection, delete, func, select

from signalbox.core.events import Stamped
from signalbox.store.batches import insert
from signalbox.store.portable import listed
from signalbox.store.tables import JOURNAL, LATEST, RUNS
from signalbox.store.writing import OpenRun, Taken, journal_row

# A run is filed after so many flushes, whether it spoke in all of them or not: the table stays as short as that.
MOST_FLUSHES = 64

_log = structlog.get_logger()
_encode = json.Encoder().encode
_decoder = json.Decoder(list[tuple[str, list[Stamped]]])


class Unfiled:
    """The `runs` that have something in the table, in the order of their oldest row there."""

    def __init__(self) -> None:
        self.runs: dict[str, OpenRun] = {}
        self._newest = 0
        self._has_rows = False

    @property
    def has_waste(self) -> bool:
        """Whether there are rows that nobody needs, and no run whose next flush would take them away."""
        return self._has_rows and not self.runs

    def overdue(self) -> list[str]:
        """Name those that hold on to a row for too long."""
        held = takewhile(lambda run: run.row <= self._newest - MOST_FLUSHES, self.runs.values())
        return [run.id for run in held]

    def needed_from(self, filed: Collection[str]) -> int | None:
        """Return the first row that somebody needs once these runs are filed; None where there are no rows."""
        if not self._has_rows:
            return None
        return next((run.row for run_id, run in self.runs.items() if run_id not in filed), self._newest + 1)

    def written(self, taken: Sequence[tuple[OpenRun, Taken]], row: int | None, needed_from: int | None) -> None:
        """Take in what a flush has written: in `row`, if any, and that rows below `needed_from` are gone."""
        for run, of_one in taken:
            if of_one.is_filed:
                self.runs.pop(run.id, None)
            elif run.pieces:
                self.runs.setdefault(run.id, run)
        is_emptied = needed_from is not None and needed_from > self._newest
        self._has_rows = row is not None or (self._has_rows and not is_emptied)
        self._newest = row or self._newest


def has_left(connection: Connection) -> bool:
    """Whether another process has left something here."""
    return connection.execute(select(LATEST.c.id).limit(1)).first() is not None


def file_left(connection: Connection) -> None:
    """File what another process has left here, each event once."""
    left: defaultdict[str, list[Stamped]] = defaultdict(list)
    for row in connection.execute(select(LATEST.c.said).order_by(LATEST.c.id)).scalars():
        try:
            said = _decoder.decode(row)
        except MsgspecError as error:  # a row that is damaged must not keep the server from starting
            _log.error("journal.unreadable", error=type(error).__name__)
            continue
        for run_id, events in said:
            left[run_id] += events
    last = select(func.coalesce(func.max(JOURNAL.c.last_seq), 0)).where(JOURNAL.c.run_id == RUNS.c.id)
    asked = select(RUNS.c.id, last.scalar_subquery()).where(RUNS.c.id.in_(listed(left)))
    for run_id, filed in connection.execute(asked).all():
        if events := _behind(left[run_id], filed):
            insert(connection, JOURNAL, [journal_row(run_id, events[0].seq, events[-1].seq, _encode(events))])
    connection.execute(delete(LATEST))


def _behind(events: Sequence[Stamped], last: int) -> list[Stamped]:
    """Return the events behind `last`; a write that seemed to fail, and came through, is there twice."""
    out: list[Stamped] = []
    for stamped in events:
        if stamped.seq > last:
            out.append(stamped)
            last = stamped.seq
    return out
