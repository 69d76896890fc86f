"""The queue of webhook deliveries as rows, which is their log too; each is leased by one worker at a time."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import structlog
from msgspec import json
from sqlalchemy import Connection, RowMapping, and_, delete, func, insert, or_, select, update

from signalbox.core.operation.webhooks import Delivery, DeliveryAttempt, DeliveryError, Receiver, State
from signalbox.store.tables import WEBHOOK_DELIVERIES, WEBHOOKS
from signalbox.store.webhooks import find_receiver, list_receivers

_log = structlog.get_logger()
_ATTEMPTS = json.Decoder(tuple[DeliveryAttempt, ...])
_ROW = WEBHOOK_DELIVERIES.c


def enqueue(connection: Connection, deliveries: Sequence[Delivery], most_pending: int) -> None:
    """Insert deliveries; those whose receiver has `most_pending` already are dropped, which is logged.

    Deliveries to a receiver that has been deleted meanwhile are left out.
    """
    room: dict[str, int] = {}
    for one in dict.fromkeys(delivery.receiver_id for delivery in deliveries):
        if find_receiver(connection, one) is not None:
            room[one] = most_pending - _pending(connection, one)
    dropped = 0
    for delivery in deliveries:
        if delivery.receiver_id not in room:
            continue
        if room[delivery.receiver_id] <= 0:
            dropped += 1
            continue
        room[delivery.receiver_id] -= 1
        connection.execute(insert(WEBHOOK_DELIVERIES).values(_row_of(delivery)))
    if dropped:
        _log.warning("webhook.dropped", count=dropped, reason="the receiver has too many pending deliveries")


def enqueue_event(
    connection: Connection, kind: str, delivery_to: Callable[[Receiver], Delivery], most_pending: int
) -> None:
    """Insert a delivery to each active receiver of this kind."""
    wanted = [one for one in list_receivers(connection) if one.active and kind in one.events]
    enqueue(connection, [delivery_to(one) for one in wanted], most_pending)


def claim(
    connection: Connection, now: float, lease: float, *, most: int, per_receiver: int, busy: Collection[str]
) -> list[tuple[Receiver, Delivery]]:
    """Lease due deliveries to active receivers until `now + lease`, the oldest first; no other worker gets them.

    At most `most` in all and `per_receiver` of each receiver, none of the receivers in `busy`.
    """
    due = select(WEBHOOK_DELIVERIES).join(WEBHOOKS, WEBHOOKS.c.id == _ROW.webhook_id)
    due = due.where(WEBHOOKS.c.active, _ROW.state == "pending", _ROW.next_at <= now, _ROW.webhook_id.not_in(busy))
    due = due.order_by(_ROW.next_at, _ROW.id).limit(most * per_receiver)
    due = due.with_for_update(of=WEBHOOK_DELIVERIES, skip_locked=True)
    found: list[tuple[Receiver, Delivery]] = []
    counts: dict[str, int] = {}
    for row in connection.execute(due).mappings().all():
        delivery = replace(_delivery_of(row), next_at=now + lease)
        count = counts.get(delivery.receiver_id, 0)
        receiver = find_receiver(connection, delivery.receiver_id)
        if receiver is None or count >= per_receiver or len(found) >= most:
            continue
        counts[delivery.receiver_id] = count + 1
        connection.execute(update(WEBHOOK_DELIVERIES).where(_ROW.id == delivery.id).values(next_at=now + lease))
        found.append((receiver, delivery))
    return found


def finish_attempt(connection: Connection, before: Delivery, after: Delivery) -> bool:
    """Store the result of an attempt; return False if the lease has expired and another worker has claimed it.

    After the error GONE, the receiver is disabled, and what is pending for it fails.
    """
    mine = and_(_ROW.id == before.id, _ROW.state == "pending", _ROW.next_at == before.next_at)
    is_mine = connection.execute(update(WEBHOOK_DELIVERIES).where(mine).values(_row_of(after))).rowcount > 0
    if is_mine and after.attempts[-1].error == "GONE":
        _disable(connection, after.receiver_id, after.ended)
    return is_mine


def _disable(connection: Connection, receiver_id: str, ended: float | None) -> None:
    why: DeliveryError = "GONE"
    connection.execute(update(WEBHOOKS).where(WEBHOOKS.c.id == receiver_id).values(active=False, disabled=why))
    pending = and_(_ROW.webhook_id == receiver_id, _ROW.state == "pending")
    failed: State = "failed"
    connection.execute(update(WEBHOOK_DELIVERIES).where(pending).values(state=failed, next_at=None, ended=ended))


def add_finished(connection: Connection, delivery: Delivery) -> None:
    """Insert a delivery that was sent outside the queue: a test."""
    connection.execute(insert(WEBHOOK_DELIVERIES).values(_row_of(delivery)))


def next_due(connection: Connection) -> float | None:
    """Return when the next delivery to an active receiver is due, None if there is none."""
    asked = select(func.min(_ROW.next_at)).join(WEBHOOKS, WEBHOOKS.c.id == _ROW.webhook_id)
    return connection.execute(asked.where(WEBHOOKS.c.active, _ROW.state == "pending")).scalar_one()


def list_deliveries(
    connection: Connection, receiver_id: str, limit: int, before: tuple[float, str] | None = None
) -> list[Delivery]:
    """Return the deliveries to a receiver, newest first; with `before`, only those before this time and id."""
    asked = select(WEBHOOK_DELIVERIES).where(_ROW.webhook_id == receiver_id)
    if before is not None:
        at, last = before
        asked = asked.where(or_(_ROW.created < at, and_(_ROW.created == at, _ROW.id < last)))
    asked = asked.order_by(_ROW.created.desc(), _ROW.id.desc()).limit(limit)
    return [_delivery_of(row) for row in connection.execute(asked).mappings()]


def sweep_deliveries(connection: Connection, before: float, most: int) -> int:
    """Delete at most `most` deliveries that were created before a time; return how many."""
    old = select(_ROW.id).where(_ROW.created < before).limit(most)
    return connection.execute(delete(WEBHOOK_DELIVERIES).where(_ROW.id.in_(old))).rowcount


def _pending(connection: Connection, receiver_id: str) -> int:
    asked = select(func.count()).select_from(WEBHOOK_DELIVERIES)
    return connection.execute(asked.where(_ROW.webhook_id == receiver_id, _ROW.state == "pending")).scalar_one()


def _row_of(delivery: Delivery) -> dict[str, Any]:
    row = {name: getattr(delivery, name) for name in Delivery.__slots__}
    row["webhook_id"] = row.pop("receiver_id")
    return {**row, "attempts": json.encode(delivery.attempts)}


def _delivery_of(row: RowMapping) -> Delivery:
    values = {**row}
    attempts = _ATTEMPTS.decode(values.pop("attempts"))
    return Delivery(receiver_id=values.pop("webhook_id"), attempts=attempts, **values)
