"""Starts the rollout of this process."""

import asyncio
from contextlib import AsyncExitStack

from signalbox.app.config import Settings
from signalbox.flags.override import OverrideStore
from signalbox.rollout.changes import Outbox
from signalbox.rollout.service import Rollout
from signalbox.store.database import Database


def guard_rollout(
    settings: Settings, database: Database, override: OverrideStore, outbox: Outbox, stack: AsyncExitStack
) -> Rollout:
    """Return the rollout of the flag, which is evaluated until `stack` closes."""
    rollout = Rollout(database, override, kill_switch=settings.tool_loop_v2 is False, outbox=outbox)
    stack.callback(asyncio.create_task(rollout.work(), name="rollout").cancel)
    return rollout
