"""Receivers of webhooks as rows: add, list, find, change, delete."""

from collections.abc import Callable
from typing import Any

from msgspec import json
from sqlalchemy import Connection, RowMapping, delete, func, insert, select, update

from signalbox.core.operation.webhooks import Receiver
from signalbox.store.tables import WEBHOOKS

_EVENTS = json.Decoder(tuple[str, ...])


class TooManyReceivers(Exception):
    """The limit of receivers is reached."""


def add_receiver(connection: Connection, receiver: Receiver, most: int) -> None:
    """Insert a new receiver; raises TooManyReceivers if there are `most` already."""
    if connection.execute(select(func.count()).select_from(WEBHOOKS)).scalar_one() >= most:
        raise TooManyReceivers
    connection.execute(insert(WEBHOOKS).values(_row_of(receiver)))


def list_receivers(connection: Connection) -> list[Receiver]:
    """Return all receivers, oldest first."""
    asked = select(WEBHOOKS).order_by(WEBHOOKS.c.created, WEBHOOKS.c.id)
    return [_receiver_of(row) for row in connection.execute(asked).mappings()]


def find_receiver(connection: Connection, receiver_id: str) -> Receiver | None:
    """Return a receiver, None for an unknown one."""
    row = connection.execute(select(WEBHOOKS).where(WEBHOOKS.c.id == receiver_id)).mappings().first()
    return _receiver_of(row) if row else None


def change_receiver(
    connection: Connection, receiver_id: str, change: Callable[[Receiver], Receiver]
) -> Receiver | None:
    """Replace a receiver by `change(receiver)` and return the result, None for an unknown one."""
    asked = select(WEBHOOKS).where(WEBHOOKS.c.id == receiver_id).with_for_update()
    row = connection.execute(asked).mappings().first()
    if row is None:
        return None
    after = change(_receiver_of(row))
    connection.execute(update(WEBHOOKS).where(WEBHOOKS.c.id == receiver_id).values(_row_of(after)))
    return after


def delete_receiver(connection: Connection, receiver_id: str) -> bool:
    """Delete a receiver with its deliveries; return whether it existed."""
    return connection.execute(delete(WEBHOOKS).where(WEBHOOKS.c.id == receiver_id)).rowcount > 0


def _row_of(receiver: Receiver) -> dict[str, Any]:
    row = {name: getattr(receiver, name) for name in Receiver.__slots__}
    return {**row, "events": json.encode(receiver.events)}


def _receiver_of(row: RowMapping) -> Receiver:
    values = {**row}
    return Receiver(events=_EVENTS.decode(values.pop("events")), **values)
