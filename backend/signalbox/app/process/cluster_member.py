"""A worker that shares its database with others: its name, notifications and heartbeats."""

import asyncio
import os
import secrets
import socket
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

from signalbox.app.config import Settings
from signalbox.runs.cluster import Cluster
from signalbox.runs.manager import RunManager
from signalbox.store.database import Database
from signalbox.store.runs.journal import JournalStore
from signalbox.store.runs.leases import Sharing
from signalbox.store.shared_values import OVERRIDE_NOTICE


def sharing_of(settings: Settings, database: Database) -> Sharing | None:
    """Return this worker's name and lease time, or None for a single process."""
    return Sharing(_worker_name(), settings.signalbox_lease_seconds) if database.is_shared else None


def join(
    runs: RunManager,
    store: JournalStore,
    sharing: Sharing,
    database: Database,
    stack: AsyncExitStack,
    *,
    on_override: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> None:
    """Join the cluster until `stack` closes. `on_override` runs when another worker changes the flag override."""
    from signalbox.store.engines.notifications import Notifications
    from signalbox.store.engines.postgres import PostgresDatabase

    assert isinstance(database, PostgresDatabase)  # the only one that is shared
    tasks: set[asyncio.Task[None]] = set()

    def handle(line: str) -> None:
        if line != OVERRIDE_NOTICE:
            peers.handle_notification(line)
        elif on_override is not None:
            _start(on_override(), tasks)

    notices = Notifications(database, handle)
    peers = Cluster(
        me=sharing.worker,
        lease_seconds=sharing.seconds,
        store=store,
        notifier=notices,
        local=runs,
        renew=store.renew,
        end_orphans=runs.end_orphans,
        clock=asyncio.get_running_loop().time,
    )
    runs.cluster = peers
    sharing.awaited, sharing.on_lost = peers.remote_subscribers, runs.release_lost
    stack.push_async_callback(_end, tasks)
    _start(notices.listen(), tasks)
    _start(peers.send_heartbeats(), tasks)


def _start(work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]]) -> None:
    task = asyncio.create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def _end(tasks: set[asyncio.Task[None]]) -> None:
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


def _worker_name() -> str:
    """Return a unique name that a reader of the lease table can interpret."""
    host = "".join(sign for sign in socket.gethostname() if sign.isalnum() or sign in "-.")[:60]
    return f"{host or 'worker'}-{os.getpid()}-{secrets.token_hex(6)}"
