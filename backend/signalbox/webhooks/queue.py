"""Queues events in the database, and delivers them: at least once each, by one worker at a time, with retries."""

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from random import random
from time import monotonic, time

import structlog

from signalbox.core.errors import StoreError
from signalbox.core.messages import JsonObject
from signalbox.core.operation.webhooks import TEST_KIND, Delivery, DeliveryAttempt, EventKind, Receiver
from signalbox.services.webhook_post import Posted, WebhookPost
from signalbox.store import webhook_deliveries as stored
from signalbox.store.database import Database, Work
from signalbox.store.webhooks import list_receivers
from signalbox.webhooks.events import body_of
from signalbox.webhooks.schedule import retry_at
from signalbox.webhooks.signing import signed_headers

_log = structlog.get_logger()

# Events in memory that are not yet in the database, and pending deliveries of one receiver; further ones are dropped.
_MOST_EVENTS, _MOST_PENDING = 10_000, 10_000
# Requests of this worker at once, in all and to one receiver: one that hangs does not delay the others.
_AT_ONCE, _AT_ONCE_PER_RECEIVER = 16, 4
# Longer than a request may take. After a crash, another worker repeats the request when this time is over.
_LEASE_SECONDS = 60.0
# Other workers and crashes may leave deliveries; receivers that another worker has changed are noticed in a second.
_POLL_SECONDS, _CACHE_SECONDS = 5.0, 1.0
_CLOSE_SECONDS = 5.0
_LOG_SECONDS, _SWEEP_EVERY, _SWEEP_ROWS = 7 * 24 * 3600.0, 3600.0, 500


@dataclass(frozen=True, slots=True)
class _Event:
    kind: str
    at: float
    payload: JsonObject


class Webhooks:
    """Sends events to the receivers of the database. `clock` returns epoch seconds, `draw` a number from 0 to 1."""

    def __init__(
        self,
        database: Database,
        post: WebhookPost,
        *,
        clock: Callable[[], float] = time,
        draw: Callable[[], float] = random,
    ) -> None:
        self.post = post
        self._database = database
        self._clock, self._draw = clock, draw
        self._events: list[_Event] = []
        self._wake = asyncio.Event()
        self._receivers: tuple[float, list[Receiver]] | None = None
        self._sent: dict[asyncio.Task[None], str] = {}  # requests under way and their receivers
        self._worker: asyncio.Task[None] | None = None
        self._swept = -_SWEEP_EVERY

    def send(self, kind: str, payload: JsonObject) -> None:
        """Queue an event for all receivers of its kind; returns at once."""
        if len(self._events) >= _MOST_EVENTS:
            _log.warning("webhook.dropped", kind=kind, count=1, reason="the database does not take events")
            return
        self._events.append(_Event(kind, self._clock(), payload))
        self._wake.set()

    def enqueuing(self, kind: EventKind, payload: JsonObject) -> Work[None]:
        """Return a function that queues an event in the transaction in which it is called; then call `wake`.

        Unlike with `send`, the event is not lost if the process is killed after the transaction.
        """
        now = self._clock()
        body = body_of(kind, now, payload)

        def delivery_to(receiver: Receiver) -> Delivery:
            return Delivery(new_delivery_id(), receiver.id, kind, now, body, next_at=now)

        return partial(stored.enqueue_event, kind=kind, delivery_to=delivery_to, most_pending=_MOST_PENDING)

    def wake(self) -> None:
        """Send at once what another transaction has queued."""
        self._wake.set()

    def receivers_changed(self) -> None:
        """Read the receivers again, and deliver what is pending for one that is active again."""
        self._receivers = None
        self._wake.set()

    async def test(self, receiver: Receiver) -> Delivery:
        """Send a test event at once, without retries; return the delivery, which is also in the log.

        Raises StoreError.
        """
        now = self._clock()
        body = body_of(TEST_KIND, now, {"webhook_id": receiver.id})
        delivery = Delivery(new_delivery_id(), receiver.id, TEST_KIND, now, body)
        posted, attempt = await self._request(receiver, delivery)
        state = "delivered" if posted.error is None else "failed"
        delivery = replace(delivery, state=state, attempts=(attempt,), ended=self._clock())
        await self._database.write(stored.add_finished, delivery)
        return delivery

    # --- the worker ---

    def start(self) -> None:
        """Start to deliver."""
        self._worker = asyncio.create_task(self._work(), name="webhooks")

    async def aclose(self) -> None:
        """Store the last events, and wait a moment for requests under way; the next process repeats the others."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.wait({self._worker})
        with suppress(StoreError):  # logged by the database
            await self._store_events()
        if self._sent:
            _, late = await asyncio.wait({*self._sent}, timeout=_CLOSE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _work(self) -> None:
        while True:
            self._wake.clear()
            try:
                seconds = await self.turn()
                await self._sweep()
            except StoreError as error:
                _log.warning("webhook.queue_failed", code=str(error.code))
                seconds = _POLL_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._wake.wait()

    async def turn(self) -> float:
        """Store new events, and start the requests that are due; return the seconds until the next one is.

        Raises StoreError.
        """
        await self._store_events()
        while (due := await self._database.read(stored.next_due)) is not None and due <= self._clock():
            if not await self._start_due():
                return _POLL_SECONDS  # everything due waits for a request under way, whose end wakes the worker
        return _POLL_SECONDS if due is None else min(max(due - self._clock(), 0.0), _POLL_SECONDS)

    async def settle(self) -> None:
        """Wait until no request is under way."""
        while self._sent:
            await asyncio.wait({*self._sent})

    async def _store_events(self) -> None:
        """Move events from memory into the database; after a StoreError they stay in memory."""
        if not self._events:
            return
        receivers = [one for one in await self._all_receivers() if one.active]
        events = self._events[:]
        deliveries = [
            Delivery(new_delivery_id(), one.id, event.kind, event.at, body, next_at=event.at)
            for event in events
            if (wanted := [one for one in receivers if event.kind in one.events])
            for body in [body_of(event.kind, event.at, event.payload)]
            for one in wanted
        ]
        if deliveries:
            await self._database.write(stored.enqueue, deliveries, _MOST_PENDING)
        del self._events[: len(events)]

    async def _all_receivers(self) -> list[Receiver]:
        if self._receivers is None or monotonic() - self._receivers[0] > _CACHE_SECONDS:
            self._receivers = monotonic(), await self._database.read(list_receivers)
        return self._receivers[1]

    async def _sweep(self) -> None:
        """Delete old deliveries once an hour."""
        if monotonic() - self._swept < _SWEEP_EVERY:
            return
        self._swept = monotonic()
        while await self._database.write(stored.sweep_deliveries, self._clock() - _LOG_SECONDS, _SWEEP_ROWS):
            pass  # one batch per transaction

    # --- requests ---

    async def _start_due(self) -> bool:
        """Claim deliveries and start their requests; return whether there was one to start."""
        free = _AT_ONCE - len(self._sent)
        under_way = [*self._sent.values()]
        busy = {one for one in under_way if under_way.count(one) >= _AT_ONCE_PER_RECEIVER}
        if free <= 0:
            return False
        claimed = await self._database.write(
            stored.claim, self._clock(), _LEASE_SECONDS, most=free, per_receiver=_AT_ONCE_PER_RECEIVER, busy=busy
        )
        for receiver, delivery in claimed:
            task = asyncio.create_task(self._deliver(receiver, delivery), name=f"webhook {delivery.id}")
            self._sent[task] = receiver.id
            task.add_done_callback(self._finished)
        return bool(claimed)

    def _finished(self, task: asyncio.Task[None]) -> None:
        del self._sent[task]
        self._wake.set()

    async def _deliver(self, receiver: Receiver, delivery: Delivery) -> None:
        """Send one request and store its result. If that fails, the lease expires and the request is repeated."""
        posted, attempt = await self._request(receiver, delivery)
        attempts, now = (*delivery.attempts, attempt), self._clock()
        again = None
        if posted.error not in (None, "GONE"):
            again = retry_at(len(attempts), now, posted.retry_after, self._draw)
        state = "delivered" if posted.error is None else "failed" if again is None else "pending"
        ended = None if state == "pending" else now
        after = replace(delivery, state=state, attempts=attempts, next_at=again, ended=ended)
        try:
            is_mine = await self._database.write(stored.finish_attempt, delivery, after)
        except StoreError:
            _log.warning("webhook.result_lost", delivery_id=delivery.id, webhook_id=receiver.id)
            return
        if is_mine:
            _log_attempt(after, attempt)
            if posted.error == "GONE":
                self.receivers_changed()

    async def _request(self, receiver: Receiver, delivery: Delivery) -> tuple[Posted, DeliveryAttempt]:
        at, began = self._clock(), monotonic()
        headers = signed_headers(delivery.id, at, delivery.body, receiver.secrets(at))
        posted = await self.post.post(receiver.url, headers, delivery.body)
        took = round((monotonic() - began) * 1000)
        return posted, DeliveryAttempt(at, posted.status, posted.error, took)


def new_delivery_id() -> str:
    """Return a new id: 128 random bits."""
    return f"msg_{secrets.token_hex(16)}"


def _log_attempt(delivery: Delivery, attempt: DeliveryAttempt) -> None:
    """Log an attempt without the URL, whose path may be secret."""
    fields = {
        "delivery_id": delivery.id,
        "webhook_id": delivery.receiver_id,
        "kind": delivery.kind,
        "attempt": len(delivery.attempts),
        "status": attempt.status,
        "error": attempt.error,
    }
    if delivery.state == "delivered":
        _log.info("webhook.delivered", **fields)
    elif delivery.state == "pending":
        _log.info("webhook.retried", **fields)
    else:
        _log.warning("webhook.failed", **fields)
