"""Rate limits that all workers share: exact sliding windows over the times of the last questions of a client.

Each rate of a client is a ring of as many times as it allows. A question overwrites the oldest time, if that is old
enough.
"""

from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import Connection, delete, select, update

from signalbox.store.engines.portable_sql import insert_into
from signalbox.store.spend.tables import RATE_COUNTS, RATE_TIMES


class Window(Struct, frozen=True, order=True):
    """At most `amount` questions of a client in any `seconds`."""

    client: str
    amount: int
    seconds: float

    @property
    def key(self) -> str:
        """The client and the rate: a changed limit begins anew."""
        return f"{self.client} {self.amount}/{self.seconds:g}"


class Counted(Struct, frozen=True):
    """A counted question: its place in a ring, and its time."""

    key: str
    place: int
    at: float


class TooMany(Exception):
    """A rate does not allow the question; it does `wait` seconds later."""

    def __init__(self, wait: float) -> None:
        super().__init__(wait)
        self.wait = wait


def count_question(connection: Connection, windows: Sequence[Window], now: float) -> list[Counted]:
    """Count a question in all windows; raises TooMany, and then the transaction must be rolled back."""
    return [_count(connection, window, now) for window in sorted(windows)]


def _count(connection: Connection, window: Window, now: float) -> Counted:
    counts = insert_into(connection, RATE_COUNTS)
    counts = counts.values(client=window.key, questions=1, expires=now + window.seconds)
    raised = {"questions": RATE_COUNTS.c.questions + 1, "expires": counts.excluded.expires}
    # This locks the client's row, so concurrent questions get different places.
    counted = counts.on_conflict_do_update(index_elements=["client"], set_=raised).returning(RATE_COUNTS.c.questions)
    place = (connection.execute(counted).scalar_one() - 1) % window.amount
    times = insert_into(connection, RATE_TIMES).values(client=window.key, place=place, at=now)
    is_old = RATE_TIMES.c.at <= now - window.seconds
    stored = times.on_conflict_do_update(index_elements=["client", "place"], set_={"at": now}, where=is_old)
    if connection.execute(stored.returning(RATE_TIMES.c.at)).first() is None:
        here = (RATE_TIMES.c.client == window.key, RATE_TIMES.c.place == place)
        oldest = connection.execute(select(RATE_TIMES.c.at).where(*here)).scalar_one()
        raise TooMany(oldest + window.seconds - now)
    return Counted(window.key, place, now)


def uncount(connection: Connection, counted: Sequence[Counted]) -> None:
    """Subtract a question that was rejected after it was counted."""
    for one in counted:
        here = (RATE_TIMES.c.client == one.key, RATE_TIMES.c.place == one.place, RATE_TIMES.c.at == one.at)
        connection.execute(update(RATE_TIMES).where(*here).values(at=0.0))


def forget_expired(connection: Connection, now: float) -> None:
    """Delete the windows of clients that have asked nothing for as long as their rates look back."""
    over = select(RATE_COUNTS.c.client).where(RATE_COUNTS.c.expires < now)
    connection.execute(delete(RATE_TIMES).where(RATE_TIMES.c.client.in_(over)))
    connection.execute(delete(RATE_COUNTS).where(RATE_COUNTS.c.expires < now))
