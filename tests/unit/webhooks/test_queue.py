"""The queue of webhooks: each event is delivered at least once, retried, and by one worker at a time."""

import asyncio

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.services.webhook_post import Posted
from signalbox.store.webhook_deliveries import sweep_deliveries
from signalbox.store.webhooks import delete_receiver, find_receiver
from signalbox.webhooks import queue
from signalbox.webhooks.schedule import MOST_ATTEMPTS

from tests.support.disk import Disk
from tests.unit.webhooks.scripted_receivers import DOWN, OK, Hooks, ScriptedPost, register

pytestmark = pytest.mark.anyio
DATABASES = ("sqlite", "postgres")
LEASE = 60.0


async def test_an_event_goes_to_the_receivers_of_its_kind(disk: Disk):
    """Inactive receivers and receivers of other kinds get nothing."""
    await register(disk, "wh_1", "run.ended", "rollout.promoted")
    await register(disk, "wh_2", "rollout.promoted")
    await register(disk, "wh_3", "run.ended", active=False)
    hooks = Hooks(disk, ScriptedPost(OK))
    hooks.webhooks.send("run.ended", {"run_id": "a"})
    await hooks.round()
    assert [url for url, _, _ in hooks.post.sent] == ["https://wh_1.example/"]
    assert hooks.post.sent[0][2] == b'{"type":"run.ended","timestamp":"1970-01-12T13:46:40.000Z","data":{"run_id":"a"}}'
    assert (await hooks.only()).state == "delivered"


async def test_a_failed_delivery_is_retried_with_the_same_id(disk: Disk):
    """No attempt is made before it is due; all have the same `webhook-id`, and the log has each of them."""
    await register(disk)
    hooks = Hooks(disk, ScriptedPost(DOWN, Posted(error="TIMEOUT"), OK))
    hooks.webhooks.send("run.ended", {})
    await hooks.round()
    await hooks.round(later=4.9)
    assert len(hooks.post.sent) == 1
    assert (await hooks.only()).next_at == pytest.approx(hooks.now + 0.1)
    await hooks.round(later=0.2)
    await hooks.round(later=20)
    assert len({sent for _, sent, _ in hooks.post.sent}) == 1
    delivery = await hooks.only()
    assert [(one.status, one.error) for one in delivery.attempts] == [
        (503, "HTTP_STATUS"),
        (None, "TIMEOUT"),
        (200, None),
    ]
    assert (delivery.state, delivery.next_at, delivery.ended) == ("delivered", None, hooks.now)


async def test_a_delivery_fails_for_good_after_the_last_attempt(disk: Disk):
    """After twelve attempts nothing more is sent."""
    await register(disk)
    hooks = Hooks(disk, ScriptedPost(DOWN))
    hooks.webhooks.send("run.ended", {})
    for _ in range(MOST_ATTEMPTS + 2):
        await hooks.round(later=5 * 3600)
    assert len(hooks.post.sent) == MOST_ATTEMPTS
    assert ((await hooks.only()).state, (await hooks.only()).next_at) == ("failed", None)


async def test_retry_after_delays_the_next_attempt(disk: Disk):
    """A receiver that asks for ten minutes gets them."""
    await register(disk)
    hooks = Hooks(disk, ScriptedPost(Posted(429, "HTTP_STATUS", "600"), OK))
    hooks.webhooks.send("run.ended", {})
    await hooks.round()
    await hooks.round(later=599)
    assert len(hooks.post.sent) == 1
    await hooks.round(later=1)
    assert (await hooks.only()).state == "delivered"


async def test_status_410_disables_the_receiver(disk: Disk):
    """Its pending deliveries fail, and it gets no further events."""
    await register(disk)
    hooks = Hooks(disk, ScriptedPost(DOWN, Posted(410, "GONE")))
    hooks.webhooks.send("run.ended", {"number": 1})
    await hooks.round()
    hooks.webhooks.send("run.ended", {"number": 2})
    await hooks.round()
    receiver = await disk.read(find_receiver, "wh_1")
    assert receiver is not None
    assert (receiver.active, receiver.disabled) == (False, "GONE")
    hooks.webhooks.send("run.ended", {"number": 3})
    await hooks.round(later=3600)
    assert [one.state for one in await hooks.log()] == ["failed", "failed"]
    assert len(hooks.post.sent) == 2


async def test_the_queue_survives_a_restart(disk: Disk):
    """A process that stops stores its last events; the next one delivers them, with the same id as before."""
    await register(disk)
    first = Hooks(disk, ScriptedPost(DOWN))
    first.webhooks.send("run.ended", {"number": 1})
    await first.round()
    first.webhooks.send("run.ended", {"number": 2})
    await first.webhooks.aclose()
    second = Hooks(disk.again(), ScriptedPost(OK), now=first.now + 5)
    try:
        await second.round()
        assert {one.state for one in await second.log()} == {"delivered"}
        assert len(second.post.sent) == 2
        assert first.post.sent[0] in second.post.sent
    finally:
        await second.database.aclose()


async def test_the_request_of_a_crashed_worker_is_repeated_after_its_lease(disk: Disk):
    """A worker that dies during a request leaves a lease; then another worker sends the same event again."""
    await register(disk)
    dying = Hooks(disk, ScriptedPost(OK))
    dying.post.gate.clear()
    dying.webhooks.send("run.ended", {})
    await dying.webhooks.turn()
    await asyncio.sleep(0)
    other = Hooks(disk, ScriptedPost(OK), now=dying.now)
    await other.round(later=LEASE - 1)
    assert other.post.sent == []
    await other.round(later=1)
    assert other.post.sent == dying.post.sent
    # The first worker was only slow: its late result changes nothing.
    dying.post.gate.set()
    await dying.webhooks.settle()
    assert len((await other.only()).attempts) == 1


async def test_two_workers_deliver_each_event_once(disk: Disk):
    """Both claim at the same time; every event is sent by exactly one of them."""
    await register(disk)
    one, other = Hooks(disk, ScriptedPost(OK)), Hooks(disk, ScriptedPost(OK))
    for number in range(40):
        one.webhooks.send("run.ended", {"number": number})
    await one.webhooks.turn()
    for _ in range(40):
        await asyncio.gather(one.round(), other.round())
    ids = [sent for hooks in (one, other) for _, sent, _ in hooks.post.sent]
    assert len(ids) == len({*ids}) == 40
    assert {delivery.state for delivery in await one.log()} == {"delivered"}


async def test_a_receiver_that_hangs_does_not_delay_another(disk: Disk):
    """At most four requests to one receiver are under way at once, so there is room for the others."""
    await register(disk, "wh_1", "run.ended")
    await register(disk, "wh_2", "rollout.promoted")
    hooks = Hooks(disk, ScriptedPost(OK))
    hooks.post.gate.clear()
    for number in range(50):
        hooks.webhooks.send("run.ended", {"number": number})
    hooks.webhooks.send("rollout.promoted", {})
    await hooks.webhooks.turn()
    await asyncio.sleep(0)
    urls = [url for url, _, _ in hooks.post.sent]
    assert sorted(urls) == [*["https://wh_1.example/"] * 4, "https://wh_2.example/"]
    hooks.post.gate.set()
    for _ in range(20):
        await hooks.round()
    assert len(hooks.post.sent) == 51


async def test_an_inactive_receiver_keeps_what_is_pending(disk: Disk):
    """Deliveries wait while it is inactive; after a deletion they are gone."""
    await register(disk)
    hooks = Hooks(disk, ScriptedPost(DOWN, OK))
    hooks.webhooks.send("run.ended", {})
    await hooks.round()
    disk.change("UPDATE webhooks SET active = false")
    await hooks.round(later=3600)
    assert len(hooks.post.sent) == 1
    disk.change("UPDATE webhooks SET active = true")
    await hooks.round()
    assert (await hooks.only()).state == "delivered"
    assert await disk.write(delete_receiver, "wh_1")
    assert await hooks.log() == []


async def test_events_wait_for_a_database_that_fails(disk: Disk):
    """An outage loses nothing that fits in memory."""
    await register(disk)
    hooks = Hooks(disk, ScriptedPost(OK))
    hooks.webhooks.send("run.ended", {})
    disk.failing = Code.STORE_UNAVAILABLE
    with pytest.raises(StoreError):
        await hooks.webhooks.turn()
    disk.failing = None
    await hooks.round()
    assert (await hooks.only()).state == "delivered"


async def test_queues_have_limits(disk: Disk, monkeypatch: pytest.MonkeyPatch):
    """Neither memory nor the table grows without end: further events are dropped."""
    monkeypatch.setattr(queue, "_MOST_EVENTS", 5)
    monkeypatch.setattr(queue, "_MOST_PENDING", 7)
    await register(disk)
    hooks = Hooks(disk, ScriptedPost(DOWN))
    for _ in range(2):
        for number in range(10):
            hooks.webhooks.send("run.ended", {"number": number})
        await hooks.round()
    assert len(await hooks.log()) == 7


async def test_old_deliveries_are_deleted(disk: Disk):
    """The sweep deletes what is older than a time, in batches."""
    await register(disk)
    hooks = Hooks(disk, ScriptedPost(OK))
    for _ in range(3):
        hooks.webhooks.send("run.ended", {})
        await hooks.round(later=10)
    assert await disk.write(sweep_deliveries, hooks.now - 25, 500) == 1
    assert await disk.write(sweep_deliveries, hooks.now + 1, 1) == 1
    assert len(await hooks.log()) == 1


async def test_without_a_receiver_nothing_is_written(disk: Disk):
    """Events without a receiver cost no transaction."""
    hooks = Hooks(disk, ScriptedPost(OK))
    before = disk.transactions
    hooks.webhooks.send("run.ended", {})
    await hooks.round()
    assert disk.transactions == before
