"""The services of the process, and how a route gets them."""

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
class Services:
    """What one process has once.

    `is_simulated`: the upstream is the simulator; `search_is_paid` sets the default limit of searches.
    """

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


def services_of(request: Request) -> Services:
    """Return the services of the process that got a request."""
    return request.app.state.services


async def _services(request: Request) -> Services:
    # Async although it awaits nothing: FastAPI sends a plain function to a thread, on every request.
    return services_of(request)


ServicesDep = Annotated[Services, Depends(_services)]
