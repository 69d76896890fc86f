"""One flush: the pending rows of many runs, written in one transaction."""

from collections.abc import Callable, Collection, Sequence

import structlog
from msgspec import Struct, field, json
from sqlalchemy import Connection, delete, select, update

from signalbox.core.conversations import case_folded
from signalbox.core.events import Content, Stamped
from signalbox.core.messages import Message
from signalbox.core.ports import OnDurable
from signalbox.core.records import Figures, RunRecord
from signalbox.store.message_codec import dump_message
from signalbox.store.runs.leases import Sharing, acquire, notify_news, release, verify
from signalbox.store.runs.raw_statements import Row, change, insert
from signalbox.store.runs.reader import journal_of
from signalbox.store.runs.rows import CHANGING, cost_columns, figure_columns, opening_row
from signalbox.store.spend.settlement import settle
from signalbox.store.tables import CONVERSATIONS, JOURNAL, MESSAGES, RUNS, TURNS

# Sequence numbers reserved at once: enough that a stream can finish while the disk does not respond. A crash leaves a
# gap, which the contract allows.
BLOCK = 1_000_000

_encoder = json.Encoder()
_log = structlog.get_logger()


class PendingWrite(Struct):
    """The pending rows of one run for one flush.

    `seq` is the last event in it, `reserved` the highest number reserved with it. `is_answer` is whether it is in a
    conversation. `size` is the size of its events in bytes, set once they are encoded.
    """

    run_id: str
    seq: int
    reserved: int
    opening: RunRecord | None
    figures: Figures | None
    events: list[Stamped]
    turns: list[tuple[int, int, Message]]
    is_raised: bool
    is_leased: bool = False
    is_answer: bool = False
    size: int = 0

    @property
    def may_end(self) -> bool:
        """Whether this worker owns the run; of any other run only costs settled after its end are written."""
        return self.is_leased or self.opening is not None


def _no_op(seq: int, reserved: int) -> None:
    """No-op callback for runs without a pending flush."""


class OpenRun(Struct):
    """One run that is being written; `is_stored` once its row is inserted, `is_leased` from then to its ending.

    `reserved` is the highest number reserved on disk, `wanted` its value after the next flush. `events` are not in the
    journal yet; `row` is the first row of the write buffer that has or will have some of them. `size` is the size of
    its events on disk in bytes, `waiting_size` of the first `measured` of those that a failing disk has not accepted.
    """

    id: str
    on_durable: OnDurable = _no_op
    opening: RunRecord | None = None
    seq: int = 0
    reserved: int = 0
    wanted: int = field(default_factory=lambda: BLOCK)
    turn_count: int = 0
    events: list[Stamped] = []
    turns: list[tuple[int, int, Message]] = []
    figures: Callable[[], Figures] | None = None
    row: int = 0
    is_answer: bool = False
    is_stored: bool = False
    is_leased: bool = False
    is_discarded: bool = False
    size: int = 0
    waiting_size: int = 0
    measured: int = 0

    def append_turns(self, seq: int, messages: Sequence[Message]) -> None:
        """Queue turns of the history."""
        if self.is_discarded:
            return
        self.turns.extend((self.turn_count + place, seq, message) for place, message in enumerate(messages))
        self.turn_count += len(messages)

    @property
    def _needs_next_block(self) -> bool:
        """Whether half of the block is used. The next one is reserved then, so that no run waits for it."""
        return bool(self.events) and self.seq > self.wanted - BLOCK // 2

    def take_pending(self) -> PendingWrite:
        """Return everything that is pending, and clear it."""
        figures = self.figures() if self.figures is not None else None
        if self._needs_next_block:
            self.wanted = self.seq + BLOCK
        taken = PendingWrite(
            self.id,
            self.seq,
            self.wanted,
            self.opening,
            figures,
            self.events,
            self.turns,
            is_raised=self.opening is None and self.wanted > self.reserved,
            is_leased=self.is_leased,
            is_answer=self.is_answer,
        )
        self.opening, self.figures, self.events, self.turns = None, None, [], []
        return taken

    def discard(self) -> None:
        """Clear everything that is pending, and accept nothing more."""
        self.is_discarded = True
        self.opening, self.figures, self.events, self.turns = None, None, [], []

    def restore(self, taken: PendingWrite) -> None:
        """Put back what could not be written, before what was queued since."""
        self.opening = taken.opening or self.opening
        self.events[:0] = taken.events
        self.turns[:0] = taken.turns
        if taken.figures is not None and self.figures is None:
            kept = taken.figures
            self.figures = lambda: kept
        # Each event is measured once, however often the write is retried.
        self.waiting_size += _size(taken.events[self.measured :])
        self.measured = len(taken.events)

    def mark_written(self, taken: PendingWrite) -> None:
        """Record what is on disk after a successful flush."""
        self.is_stored = True
        if taken.opening is not None or taken.figures is not None:
            self.is_leased = taken.may_end and not (taken.figures and taken.figures.is_over)
        self.reserved = taken.reserved
        self.size += taken.size
        self.waiting_size = self.measured = 0


def _size(events: list[Stamped]) -> int:
    try:
        return len(_encoder.encode(events))
    except Exception:  # noqa: BLE001 - events that cannot be encoded are rejected once the disk works
        return 0


def take_pending(run: OpenRun) -> PendingWrite:
    """Return everything that is pending of a run, without its figures if they cannot be read."""
    try:
        return run.take_pending()
    except Exception as error:  # noqa: BLE001 - broken figures must not keep events from the disk
        _log.error("journal.usage_failed", run_id=run.id, error=type(error).__name__)
        run.figures = None
        return run.take_pending()


def write_pending(
    connection: Connection, batch: Sequence[PendingWrite], stale: Collection[str] = (), sharing: Sharing | None = None
) -> None:
    """Write the pending rows with a few statements, however many runs there are, and delete `stale` runs.

    All statements are idempotent: if a connection broke during a commit, the rows may exist already. Rows that are
    written again start at the same number and may contain more events. Raises LeaseLost if another worker has taken
    over a run; then nothing is written.
    """
    if stale:
        _delete_stale(connection, stale)
    _insert_runs(connection, batch)
    filed = [_journal_row(t) for t in batch if t.events]
    insert(connection, JOURNAL, filed, replaced=("last_seq", "frames"))
    insert(connection, TURNS, [_turn_row(t.run_id, *turn) for t in batch for turn in t.turns])
    change(connection, RUNS, [{"reserved": t.reserved, "id": t.run_id} for t in batch if t.is_raised])
    if noted := [(t, t.figures) for t in batch if t.figures is not None and t.opening is None]:
        _update_figures(connection, noted)
    for taken in batch:
        if taken.is_answer and taken.may_end and taken.figures and taken.figures.is_over:
            _save_answer(connection, taken.run_id)
    if sharing is not None:
        _update_leases(connection, batch, sharing)
    # Last: it locks rows that all workers change.
    settle(connection, [(t.run_id, t.figures) for t in batch if t.figures is not None])


def _insert_runs(connection: Connection, batch: Sequence[PendingWrite]) -> None:
    """Insert new runs with their latest figures, which replace those of a commit whose result was lost."""
    begun = [(t, t.opening) for t in batch if t.opening is not None]
    if not begun:
        return
    _check_questions(connection, [opening for _, opening in begun])
    rows = [(t, {**opening_row(opening, t.figures), "reserved": t.reserved}) for t, opening in begun]
    insert(connection, RUNS, [row for t, row in rows if t.figures is None])
    insert(connection, RUNS, [row for t, row in rows if t.figures is not None], replaced=CHANGING)
    _move_leaves(connection, [opening for _, opening in begun])


def _update_figures(connection: Connection, noted: Sequence[tuple[PendingWrite, Figures]]) -> None:
    """Update the figures of stored runs."""
    change(connection, RUNS, [{**figure_columns(told), "id": t.run_id} for t, told in noted if t.may_end])
    billed = [{**cost_columns(told), "id": t.run_id} for t, told in noted if not t.may_end]
    change(connection, RUNS, billed, only="status IS NOT NULL")


def _update_leases(connection: Connection, batch: Sequence[PendingWrite], sharing: Sharing) -> None:
    """Acquire, verify and release leases, and notify the workers that wait for these runs."""
    if begun := [t.run_id for t in batch if t.opening is not None]:
        acquire(connection, sharing, begun)
    if leased := [t.run_id for t in batch if t.may_end]:
        verify(connection, sharing, leased)
    if over := [t.run_id for t in batch if t.figures is not None and t.figures.is_over]:
        release(connection, sharing, over)
    if awaited := [t.run_id for t in batch if t.run_id in sharing.awaited]:
        notify_news(connection, awaited)


class QuestionDeleted(Exception):
    """The message that a run answers was deleted before the run was stored, with its conversation."""


def _check_questions(connection: Connection, openings: Sequence[RunRecord]) -> None:
    """Check that answered messages exist in their conversations; raises QuestionDeleted."""
    answers = {run.parent_id: run.conversation_id for run in openings if run.parent_id is not None}
    if not answers:
        return
    there: set[tuple[str, str | None]] = set()
    for table in (MESSAGES, RUNS):  # the parent of a run that continues another run is a run
        if left := answers.items() - there:
            asked = select(table.c.id, table.c.conversation_id).where(table.c.id.in_([node_id for node_id, _ in left]))
            asked = asked.with_for_update(
                read=True, key_share=True
            )  # prevents another worker from deleting it meanwhile
            there |= {(row.id, row.conversation_id) for row in connection.execute(asked)}
    if answers.items() - there:
        raise QuestionDeleted


def _move_leaves(connection: Connection, openings: Sequence[RunRecord]) -> None:
    """Make each new run the leaf of its conversation."""
    moved = [
        {"leaf_id": run.id, "updated": run.started, "id": run.conversation_id}
        for run in openings
        if run.conversation_id is not None
    ]
    change(connection, CONVERSATIONS, moved)


def _delete_stale(connection: Connection, stale: Collection[str]) -> None:
    """Delete runs that were rejected but committed; the answered message becomes the conversation's leaf again."""
    before = select(RUNS.c.parent_id).where(RUNS.c.id == CONVERSATIONS.c.leaf_id).scalar_subquery()
    connection.execute(update(CONVERSATIONS).where(CONVERSATIONS.c.leaf_id.in_(stale)).values(leaf_id=before))
    connection.execute(delete(RUNS).where(RUNS.c.id.in_(stale)))


def _journal_row(taken: PendingWrite) -> Row:
    frames = _encoder.encode(taken.events)
    taken.size = len(frames)
    return journal_row(taken.run_id, taken.events[0].seq, taken.seq, frames)


def journal_row(run_id: str, first: int, last: int, frames: bytes) -> Row:
    """Return a row of the journal; `frames` are the events from `first` to `last` as JSON."""
    return {"run_id": run_id, "first_seq": first, "last_seq": last, "frames": frames}


def _turn_row(run_id: str, place: int, seq: int, message: Message) -> Row:
    return {"run_id": run_id, "place": place, "seq": seq, "message": dump_message(message)}


def _save_answer(connection: Connection, run_id: str) -> None:
    """Store a run's text for display and search in its conversation."""
    answer = "".join(s.event.content for s in journal_of(connection, run_id) if isinstance(s.event, Content))
    connection.execute(update(RUNS).where(RUNS.c.id == run_id).values(answer=answer, folded=case_folded(answer)))
