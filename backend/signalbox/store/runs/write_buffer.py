"""What runs under way have said since they were last filed in the journal: one row per flush for all of them together.

A row of the journal for each run and each flush touches a page of its index for each run: with a hundred streams that
kept the writing thread busy for 4 ms of every 80. So a run is filed when a request waits for it or reads its record,
when its figures change and at its end, or else every few seconds. Until then its events stay in memory, and are here
too, for a start behind a crash, which files them; nothing else reads them here. A flush has no step for a single run.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence

import structlog
from msgspec import MsgspecError, Struct, json
from sqlalchemy import Connection, delete, func, select

from signalbox.core.events import Stamped
from signalbox.store.database import touch
from signalbox.store.engines.portable_sql import listed
from signalbox.store.runs.flush import OpenRun, Taken, journal_row, put, taken_of
from signalbox.store.runs.format_0_1 import read_batches
from signalbox.store.runs.leases import Sharing
from signalbox.store.runs.raw_statements import driver_of, insert
from signalbox.store.tables import JOURNAL, LATEST, RUNS

# With this many events a run is worth a separate row in the journal: 2.5 seconds of one that says 50 a second.
WORTH_A_ROW = 128
# A run is filed after so many flushes, whether it spoke in all of them or not: the table stays as short as that.
MOST_FLUSHES = 64
# A run that has a part in a row of so many bytes is filed with the next flush: only what is filed is weighed.
LARGE = 256 * 1024

_log = structlog.get_logger()
_encode = json.Encoder().encode


class Said(Struct):
    """What one flush does to the table: what runs have `said`, by their ids, becomes `row`, unless that is nothing.

    Rows below `needed_from` go; None where none of them can. `size` are the row's bytes, once it is written.
    """

    row: int = 0
    said: dict[str, list[Stamped]] = {}
    needed_from: int | None = None
    size: int = 0


class Unfiled:
    """The runs of which not all is filed.

    Those in `due` are filed with the next flush. Those in `runs`, in the order of their first rows, have said something
    that is, or will be, in rows of all; `said` is what the next row takes of it.
    """

    def __init__(self) -> None:
        self.due: dict[str, OpenRun] = {}
        self.runs: dict[str, OpenRun] = {}
        self.said: dict[str, list[Stamped]] = {}
        self._row = 1  # the next one
        self._oldest = 0  # the first one that may be there, 0 where there is none

    @property
    def run_ids(self) -> set[str]:
        """All of them."""
        return self.due.keys() | self.runs.keys()

    def find(self, run_id: str) -> OpenRun | None:
        """Return one of them."""
        return self.due.get(run_id) or self.runs.get(run_id)

    def begin(self, run: OpenRun, batch: Sequence[Stamped]) -> None:
        """Take the first of what a run says for the next row."""
        self.said[run.id] = [*batch]
        if run.id not in self.runs:
            run.row = self._row
            self.runs[run.id] = run

    def take_due(self, asked: Collection[str | None], *, is_time: bool) -> list[tuple[OpenRun, Taken]]:
        """Take the runs that are to be filed: those that are asked for (None is all), and where it is time, those due.

        A run that starts or ends would else have every other one written with it, many times a second.
        """
        named = dict.fromkeys([run_id for run_id in asked if run_id])
        if is_time:
            oldest = self._row - MOST_FLUSHES
            many = [run.id for run in self.runs.values() if len(run.events) >= WORTH_A_ROW or run.row < oldest]
            named |= dict.fromkeys([*(self.runs if None in asked else many), *self.due])
        there = [self.due.pop(run_id, None) or self.runs.get(run_id) for run_id in named]
        return [(run, taken_of(run)) for run in there if run]

    def take_said(self, filed: Collection[str], *, is_time: bool) -> Said:
        """Take what is to be written beside the runs that are filed; where it is not time only which rows can go."""
        for run_id in filed:
            self.said.pop(run_id, None)
        needed_from = next((run.row for run_id, run in self.runs.items() if run_id not in filed), self._row)
        taken = Said(self._row, needed_from=needed_from if 0 < self._oldest < needed_from else None)
        if is_time and self.said:
            taken.said, self.said = self.said, {}
            self._oldest = self._oldest or self._row
            self._row += 1
        return taken

    def written(self, taken: Said, filed: Sequence[OpenRun]) -> None:
        """Take in that a flush is on disk, and these runs with it; some of them may have spoken since."""
        for run in filed:
            if self.runs.pop(run.id, None) is not None and run.events:
                run.row = self._row
                self.runs[run.id] = run
        if taken.needed_from is not None:
            self._oldest = taken.needed_from if taken.needed_from < self._row else 0
        if taken.size > LARGE:
            self.file_soon(taken)

    def file_soon(self, taken: Said) -> None:
        """Have those filed who are in a row that was not written, or is large: each has all of it in memory."""
        self.due |= {run_id: self.runs[run_id] for run_id in taken.said if run_id in self.runs}

    def drop(self, run_id: str) -> OpenRun | None:
        """Hold nothing of a run any more; it is returned."""
        self.said.pop(run_id, None)
        due, run = self.due.pop(run_id, None), self.runs.pop(run_id, None)
        return due or run


def write_flush(
    connection: Connection, batch: Sequence[Taken], stale: Collection[str], sharing: Sharing | None, latest: Said
) -> None:
    """Write a flush; one of nothing finds out whether the database takes anything."""
    put(connection, batch, stale, sharing)
    if latest.needed_from is not None:
        driver_of(connection).execute("DELETE FROM latest WHERE id < ?", (latest.needed_from,))
    if latest.said:
        said = _encode([*latest.said.items()])
        latest.size = len(said)
        driver_of(connection).execute("INSERT INTO latest (id, said) VALUES (?, ?)", (latest.row, said))
    elif not batch:
        touch(connection)


def has_left(connection: Connection) -> bool:
    """Whether another process has left something here."""
    return connection.execute(select(LATEST.c.id).limit(1)).first() is not None


def file_left(connection: Connection) -> None:
    """File what another process has left here, each event once."""
    left: defaultdict[str, list[Stamped]] = defaultdict(list)
    for row in connection.execute(select(LATEST.c.said).order_by(LATEST.c.id)).scalars():
        try:
            said = read_batches(row)
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
