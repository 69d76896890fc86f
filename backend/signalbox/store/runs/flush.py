"""What runs hand over to the disk and one flush takes: rows of many runs, for one transaction."""

from collections.abc import Callable, Collection, Sequence

import structlog
from msgspec import Struct, field, json
from sqlalchemy import Connection, delete, select, update

from signalbox.core.conversations import folded
from signalbox.core.events import Content, Stamped
from signalbox.core.messages import Message
from signalbox.core.ports import OnDurable
from signalbox.core.records import Figures, RunRecord
from signalbox.store.message_codec import dump_message
from signalbox.store.runs.leases import Sharing, check, give_up, notify_news, take
from signalbox.store.runs.raw_statements import Row, change, insert
from signalbox.store.runs.reader import journal_of
from signalbox.store.runs.rows import CHANGING, bill, figures, opening_row
from signalbox.store.tables import CONVERSATIONS, JOURNAL, MESSAGES, RUNS, TURNS

# Numbers that are reserved at once: so many that a stream goes on to its end also while the disk does not answer. A
# crash leaves a gap of them, which the contract allows.
BLOCK = 1_000_000

_encoder = json.Encoder()
_log = structlog.get_logger()


class Taken(Struct):
    """What one flush takes of one run, to file it.

    `seq` is its last event in it, `reserved` the block that is reserved with it. `is_answer` where it is of a
    conversation. `size` are the bytes of its events, once they are written.
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
        """Whether the run is this worker's to tell of; of any other only a bill is kept that came after its end."""
        return self.is_leased or self.opening is not None


def _untold(seq: int, reserved: int) -> None:
    """No-op callback for runs without a pending flush."""


class OpenRun(Struct):
    """One run that is being written; `is_kept` once it is in its table, `is_leased` from then to its ending.

    `reserved` is on disk, `wanted` is what the next flush makes of it. `events` are those that are not filed, and `row`
    the first of the latest that has, or will have, some of them. `size` are the bytes of its events on disk, and
    `waiting_size` of the first `weighed` of those that a disk that is ill has not taken.
    """

    id: str
    on_durable: OnDurable = _untold
    opening: RunRecord | None = None
    seq: int = 0
    reserved: int = 0
    wanted: int = field(default_factory=lambda: BLOCK)
    turns_kept: int = 0
    events: list[Stamped] = []
    turns: list[tuple[int, int, Message]] = []
    figures: Callable[[], Figures] | None = None
    row: int = 0
    is_answer: bool = False
    is_kept: bool = False
    is_leased: bool = False
    is_dropped: bool = False
    size: int = 0
    waiting_size: int = 0
    weighed: int = 0

    def remember(self, seq: int, messages: Sequence[Message]) -> None:
        """Take what the history grew by."""
        if self.is_dropped:
            return
        self.turns.extend((self.turns_kept + place, seq, message) for place, message in enumerate(messages))
        self.turns_kept += len(messages)

    @property
    def _uses_its_block_up(self) -> bool:
        """Whether half of it is used: the next one is reserved then, so that no run waits for it."""
        return bool(self.events) and self.seq > self.wanted - BLOCK // 2

    def take(self) -> Taken:
        """Hand over what there is, and hold nothing of it."""
        figures = self.figures() if self.figures is not None else None
        if self._uses_its_block_up:
            self.wanted = self.seq + BLOCK
        taken = Taken(
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

    def drop(self) -> None:
        """Hold nothing, and take nothing more."""
        self.is_dropped = True
        self.opening, self.figures, self.events, self.turns = None, None, [], []

    def give_back(self, taken: Taken) -> None:
        """Hold again what could not be written, before what has come since."""
        self.opening = taken.opening or self.opening
        self.events[:0] = taken.events
        self.turns[:0] = taken.turns
        if taken.figures is not None and self.figures is None:
            kept = taken.figures
            self.figures = lambda: kept
        # Each of them is weighed once, however often the disk is tried: they all wait in memory.
        self.waiting_size += _size(taken.events[self.weighed :])
        self.weighed = len(taken.events)

    def kept(self, taken: Taken) -> None:
        """Count what is on disk now."""
        self.is_kept = True
        if taken.opening is not None or taken.figures is not None:
            self.is_leased = taken.may_end and not (taken.figures and taken.figures.is_over)
        self.reserved = taken.reserved
        self.size += taken.size
        self.waiting_size = self.weighed = 0


def _size(events: list[Stamped]) -> int:
    try:
        return len(_encoder.encode(events))
    except Exception:  # noqa: BLE001 - what cannot be written is refused as soon as there is a disk that could take it
        return 0


def taken_of(run: OpenRun) -> Taken:
    """Take what there is of a run, at the worst without its figures."""
    try:
        return run.take()
    except Exception as error:  # noqa: BLE001 - figures that cannot be told keep no event from the disk
        _log.error("journal.figures", run_id=run.id, error=type(error).__name__)
        run.figures = None
        return run.take()


def put(
    connection: Connection, batch: Sequence[Taken], stale: Collection[str] = (), sharing: Sharing | None = None
) -> None:
    """Write what a flush took, a few statements whatever the number of runs; take out what should not be there.

    All of it may be there already: a connection that broke during its commit does not tell whether it came through.
    What is written again begins at the same number, and may by now go further. Raises LeaseLost where a run is
    another worker's by now: then nothing of it all is written.
    """
    if stale:
        _take_out(connection, stale)
    _begin(connection, batch)
    filed = [_filed(t) for t in batch if t.events]
    insert(connection, JOURNAL, filed, replaced=("last_seq", "frames"))
    insert(connection, TURNS, [_turn_row(t.run_id, *turn) for t in batch for turn in t.turns])
    change(connection, RUNS, [{"reserved": t.reserved, "id": t.run_id} for t in batch if t.is_raised])
    if noted := [(t, t.figures) for t in batch if t.figures is not None and t.opening is None]:
        _note(connection, noted)
    for taken in batch:
        if taken.is_answer and taken.may_end and taken.figures and taken.figures.is_over:
            _keep_answer(connection, taken.run_id)
    if sharing is not None:
        _share(connection, batch, sharing)


def _begin(connection: Connection, batch: Sequence[Taken]) -> None:
    """Keep new runs, with the figures that have come meanwhile; those replace what a lost commit may have kept."""
    begun = [(t, t.opening) for t in batch if t.opening is not None]
    if not begun:
        return
    _check_questions(connection, [opening for _, opening in begun])
    rows = [(t, {**opening_row(opening, t.figures), "reserved": t.reserved}) for t, opening in begun]
    insert(connection, RUNS, [row for t, row in rows if t.figures is None])
    insert(connection, RUNS, [row for t, row in rows if t.figures is not None], replaced=CHANGING)
    _follow(connection, [opening for _, opening in begun])


def _note(connection: Connection, noted: Sequence[tuple[Taken, Figures]]) -> None:
    """Keep figures of runs that are there."""
    change(connection, RUNS, [{**figures(told), "id": t.run_id} for t, told in noted if t.may_end])
    billed = [{**bill(told), "id": t.run_id} for t, told in noted if not t.may_end]
    change(connection, RUNS, billed, only="status IS NOT NULL")


def _share(connection: Connection, batch: Sequence[Taken], sharing: Sharing) -> None:
    """Hold the leases of what was written, and tell the workers that wait for it."""
    if begun := [t.run_id for t in batch if t.opening is not None]:
        take(connection, sharing, begun)
    if leased := [t.run_id for t in batch if t.may_end]:
        check(connection, sharing, leased)
    if over := [t.run_id for t in batch if t.figures is not None and t.figures.is_over]:
        give_up(connection, sharing, over)
    if awaited := [t.run_id for t in batch if t.run_id in sharing.awaited]:
        notify_news(connection, awaited)


class QuestionGone(Exception):
    """What a run answers or continues was deleted before the run was kept, with its conversation."""


def _check_questions(connection: Connection, openings: Sequence[RunRecord]) -> None:
    """Refuse an answer to nothing: there may be a new conversation of the same id. Raises QuestionGone."""
    answers = {run.parent_id: run.conversation_id for run in openings if run.parent_id is not None}
    if not answers:
        return
    there: set[tuple[str, str | None]] = set()
    for table in (MESSAGES, RUNS):  # a run that continues another one stands behind it
        if left := answers.items() - there:
            asked = select(table.c.id, table.c.conversation_id).where(table.c.id.in_([node_id for node_id, _ in left]))
            asked = asked.with_for_update(read=True, key_share=True)  # another worker must not delete it meanwhile
            there |= {(row.id, row.conversation_id) for row in connection.execute(asked)}
    if answers.items() - there:
        raise QuestionGone


def _follow(connection: Connection, openings: Sequence[RunRecord]) -> None:
    """Have the next question of a conversation follow the run that has begun."""
    moved = [
        {"leaf_id": run.id, "updated": run.started, "id": run.conversation_id}
        for run in openings
        if run.conversation_id is not None
    ]
    change(connection, CONVERSATIONS, moved)


def _take_out(connection: Connection, stale: Collection[str]) -> None:
    """Delete runs that were refused but came through; a conversation goes on behind the message that each answers."""
    before = select(RUNS.c.parent_id).where(RUNS.c.id == CONVERSATIONS.c.leaf_id).scalar_subquery()
    connection.execute(update(CONVERSATIONS).where(CONVERSATIONS.c.leaf_id.in_(stale)).values(leaf_id=before))
    connection.execute(delete(RUNS).where(RUNS.c.id.in_(stale)))


def _filed(taken: Taken) -> Row:
    frames = _encoder.encode(taken.events)
    taken.size = len(frames)
    return journal_row(taken.run_id, taken.events[0].seq, taken.seq, frames)


def journal_row(run_id: str, first: int, last: int, frames: bytes) -> Row:
    """Return a row of the journal; `frames` are the events from `first` to `last` as JSON."""
    return {"run_id": run_id, "first_seq": first, "last_seq": last, "frames": frames}


def _turn_row(run_id: str, place: int, seq: int, message: Message) -> Row:
    return {"run_id": run_id, "place": place, "seq": seq, "message": dump_message(message)}


def _keep_answer(connection: Connection, run_id: str) -> None:
    """Put a run's text where a conversation shows and searches it."""
    answer = "".join(s.event.content for s in journal_of(connection, run_id) if isinstance(s.event, Content))
    connection.execute(update(RUNS).where(RUNS.c.id == run_id).values(answer=answer, folded=folded(answer)))
