"""The write buffer: one row per flush with the new events of all active runs, before they move to the journal.

A journal row per run and flush touches one index page per run: with a hundred streams, the writer thread was busy 4 of
every 80 ms. So events are journalled when a request waits for the run or reads its record, when its figures change,
at its end, and otherwise every few seconds. Until then they are in memory and in this buffer, which is read only after
a crash, at startup. The cost of a flush does not depend on the number of runs.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence

import structlog
from msgspec import MsgspecError, Struct, json
from sqlalchemy import Connection, delete, func, select

from signalbox.core.events import Stamped
from signalbox.store.database import touch
from signalbox.store.engines.portable_sql import id_subquery
from signalbox.store.runs.flush import OpenRun, PendingWrite, journal_row, take_pending, write_pending
from signalbox.store.runs.format_0_1 import read_batches
from signalbox.store.runs.leases import Sharing
from signalbox.store.runs.raw_statements import driver_of, insert
from signalbox.store.tables import JOURNAL, LATEST, RUNS

# A run with this many buffered events is journalled: 2.5 seconds of one that emits 50 per second.
WORTH_A_ROW = 128
# A run is journalled after this many flushes, which limits the number of rows in the buffer.
MOST_FLUSHES = 64
# Runs in a row of more bytes are journalled with the next flush, because only journalled events count for the limit.
LARGE = 256 * 1024

_log = structlog.get_logger()
_encode = json.Encoder().encode


class BufferRow(Struct):
    """The change of the buffer in one flush: `events` by run id become row number `row`, unless there are none.

    Rows below `needed_from` are deleted, none if that is None. `size` is the size of the row in bytes, set when it is
    written.
    """

    row: int = 0
    events: dict[str, list[Stamped]] = {}
    needed_from: int | None = None
    size: int = 0


class WriteBuffer:
    """The runs with events that are not in the journal yet.

    Those in `due` are journalled with the next flush. Those in `runs`, ordered by their first rows, have events that
    are or will be in the buffer; `next_row` are the events of the next row.
    """

    def __init__(self) -> None:
        self.due: dict[str, OpenRun] = {}
        self.runs: dict[str, OpenRun] = {}
        self.next_row: dict[str, list[Stamped]] = {}
        self._row = 1  # the number of the next row
        self._oldest = 0  # the first row that may exist, 0 if there is none

    @property
    def run_ids(self) -> set[str]:
        """The ids of all these runs."""
        return self.due.keys() | self.runs.keys()

    def find(self, run_id: str) -> OpenRun | None:
        """Return one of these runs."""
        return self.due.get(run_id) or self.runs.get(run_id)

    def add(self, run: OpenRun, batch: Sequence[Stamped]) -> None:
        """Add the first events of a run to the next row."""
        self.next_row[run.id] = [*batch]
        if run.id not in self.runs:
            run.row = self._row
            self.runs[run.id] = run

    def take_due(self, asked: Collection[str | None], *, is_time: bool) -> list[tuple[OpenRun, PendingWrite]]:
        """Return the runs to journal: the requested ones (None is all) and, when the timer is up, those due.

        Runs that start or end request a flush many times per second, which must not write all other runs.
        """
        named = dict.fromkeys([run_id for run_id in asked if run_id])
        if is_time:
            oldest = self._row - MOST_FLUSHES
            many = [run.id for run in self.runs.values() if len(run.events) >= WORTH_A_ROW or run.row < oldest]
            named |= dict.fromkeys([*(self.runs if None in asked else many), *self.due])
        there = [self.due.pop(run_id, None) or self.runs.get(run_id) for run_id in named]
        return [(run, take_pending(run)) for run in there if run]

    def take_row(self, filed: Collection[str], *, is_time: bool) -> BufferRow:
        """Return the change of the buffer for this flush; before the timer is up, only rows to delete."""
        for run_id in filed:
            self.next_row.pop(run_id, None)
        needed_from = next((run.row for run_id, run in self.runs.items() if run_id not in filed), self._row)
        taken = BufferRow(self._row, needed_from=needed_from if 0 < self._oldest < needed_from else None)
        if is_time and self.next_row:
            taken.events, self.next_row = self.next_row, {}
            self._oldest = self._oldest or self._row
            self._row += 1
        return taken

    def mark_written(self, taken: BufferRow, filed: Sequence[OpenRun]) -> None:
        """Record that a flush is on disk and these runs are journalled; they may have new events since."""
        for run in filed:
            if self.runs.pop(run.id, None) is not None and run.events:
                run.row = self._row
                self.runs[run.id] = run
        if taken.needed_from is not None:
            self._oldest = taken.needed_from if taken.needed_from < self._row else 0
        if taken.size > LARGE:
            self.journal_soon(taken)

    def journal_soon(self, taken: BufferRow) -> None:
        """Journal the runs of a row with the next flush, because it failed or is large; memory has all their events."""
        self.due |= {run_id: self.runs[run_id] for run_id in taken.events if run_id in self.runs}

    def discard(self, run_id: str) -> OpenRun | None:
        """Remove a run and return it, None if it is not here."""
        self.next_row.pop(run_id, None)
        due, run = self.due.pop(run_id, None), self.runs.pop(run_id, None)
        return due or run


def write_flush(
    connection: Connection,
    batch: Sequence[PendingWrite],
    stale: Collection[str],
    sharing: Sharing | None,
    latest: BufferRow,
) -> None:
    """Write a flush; an empty one checks whether the database accepts writes."""
    write_pending(connection, batch, stale, sharing)
    if latest.needed_from is not None:
        driver_of(connection).execute("DELETE FROM latest WHERE id < ?", (latest.needed_from,))
    if latest.events:
        said = _encode([*latest.events.items()])
        latest.size = len(said)
        driver_of(connection).execute("INSERT INTO latest (id, said) VALUES (?, ?)", (latest.row, said))
    elif not batch:
        touch(connection)


def has_leftovers(connection: Connection) -> bool:
    """Return whether a crashed process has left rows in the buffer."""
    return connection.execute(select(LATEST.c.id).limit(1)).first() is not None


def journal_leftovers(connection: Connection) -> None:
    """Move the rows that a crashed process has left to the journal, each event once."""
    left: defaultdict[str, list[Stamped]] = defaultdict(list)
    for row in connection.execute(select(LATEST.c.said).order_by(LATEST.c.id)).scalars():
        try:
            said = read_batches(row)
        except MsgspecError as error:  # a damaged row must not prevent the start of the server
            _log.error("journal.unreadable", error=type(error).__name__)
            continue
        for run_id, events in said:
            left[run_id] += events
    last = select(func.coalesce(func.max(JOURNAL.c.last_seq), 0)).where(JOURNAL.c.run_id == RUNS.c.id)
    asked = select(RUNS.c.id, last.scalar_subquery()).where(RUNS.c.id.in_(id_subquery(left)))
    for run_id, filed in connection.execute(asked).all():
        if events := _behind(left[run_id], filed):
            insert(connection, JOURNAL, [journal_row(run_id, events[0].seq, events[-1].seq, _encode(events))])
    connection.execute(delete(LATEST))


def _behind(events: Sequence[Stamped], last: int) -> list[Stamped]:
    """Return the events after `last`, each once: a write that seemed to fail may exist twice."""
    out: list[Stamped] = []
    for stamped in events:
        if stamped.seq > last:
            out.append(stamped)
            last = stamped.seq
    return out
