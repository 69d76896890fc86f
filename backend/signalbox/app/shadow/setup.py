"""Starts shadow mode, if the settings ask for it."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack

from signalbox.app.config import Settings
from signalbox.app.shadow.cases import Cases
from signalbox.app.shadow.worker import Shadow
from signalbox.app.tool_setup import Toolbox
from signalbox.metrics.counters import NO_COUNTERS, Counters
from signalbox.services.catalog import Catalog
from signalbox.services.upstreams.registry import Upstreams
from signalbox.store.database import Database


def open_shadow(
    settings: Settings,
    database: Database,
    upstreams: Upstreams,
    catalog: Catalog,
    stack: AsyncExitStack,
    *,
    toolbox: Toolbox,
    counters: Counters | None,
) -> Iterator[Shadow]:
    """Yield the listener of shadow mode, if it is on; `stack` stops its work, also in the middle of a run.

    `counters` count its runs for metrics, if these are on.
    """
    if settings.signalbox_shadow_percent == 0:
        return
    shadow = Shadow(settings, database, Cases(settings, catalog, toolbox), upstreams, counters or NO_COUNTERS)
    working = asyncio.create_task(shadow.work(), name="shadow")

    async def stop() -> None:
        working.cancel()
        await asyncio.wait({working})

    stack.push_async_callback(stop)
    yield shadow
