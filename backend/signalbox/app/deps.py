"""What routes are given: the parts that one process has once."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from signalbox.app.config import Settings
from signalbox.app.limits.open_streams import Streams
from signalbox.app.limits.quota import Quota
from signalbox.app.model_list import ModelList
from signalbox.flags.override import OverrideStore
from signalbox.runs.manager import RunManager
from signalbox.services.catalog import ModelCatalog
from signalbox.services.tool_executor import ToolExecutor
from signalbox.services.upstream import UpstreamClient
from signalbox.store.database import Database


@dataclass(frozen=True, slots=True)
class Parts:
    """The process's parts. `is_simulated`: the upstream is the simulator; `search_is_paid` sets the default clamp."""

    settings: Settings
    upstream: UpstreamClient
    executor: ToolExecutor
    catalog: ModelCatalog
    models: ModelList
    runs: RunManager
    streams: Streams
    quota: Quota
    database: Database
    flag_override: OverrideStore
    admin_token: str
    is_simulated: bool
    search_is_paid: bool = False


def parts_of(request: Request) -> Parts:
    """Return the parts of the process that a request came to."""
    return request.app.state.parts


async def _parts(request: Request) -> Parts:
    # Async although it awaits nothing: FastAPI sends a plain function to a thread, on every request.
    return parts_of(request)


PartsDep = Annotated[Parts, Depends(_parts)]
