"""Counts the question of a run that starts, and reserves what it may spend; both or nothing."""

from collections.abc import Sequence

from sqlalchemy import Connection

from signalbox.store.spend.rates import Counted, Window, count_question, forget_expired, uncount
from signalbox.store.spend.reservations import Payer, release, reserve, sweep


def admit(
    connection: Connection, windows: Sequence[Window], payer: Payer | None, amounts: tuple[int, int], now: float
) -> tuple[list[Counted], int]:
    """Return what was counted and the reserved amount; `amounts` are those wanted and needed.

    Raises TooMany and Refused, and then nothing is written.
    """
    counted = count_question(connection, windows, now)
    return counted, reserve(connection, payer, *amounts, now) if payer is not None else 0


def undo(connection: Connection, counted: Sequence[Counted], run_id: str) -> None:
    """Take back what was counted and reserved for a run that does not start."""
    uncount(connection, counted)
    release(connection, [run_id])


def clean_up(connection: Connection, before: float, today: str, now: float) -> int:
    """Release what killed processes have reserved before a time, and forget expired rates; return how many runs."""
    forget_expired(connection, now)
    return sweep(connection, before, today)
