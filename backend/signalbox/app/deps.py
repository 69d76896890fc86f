"""The services of the process, and the FastAPI dependency that passes them to routes."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from signalbox.app.access import Caller
from signalbox.app.config import Settings
from signalbox.app.limits.admission import Admission
from signalbox.app.limits.open_streams import Streams
from signalbox.app.limits.quota import Quota
from signalbox.app.model_list import ModelList, OpenAiModelList
from signalbox.app.upstreams.reload import UpstreamsReload
from signalbox.core.security.image_addresses import ImageAddresses
from signalbox.flags.override import OverrideStore
from signalbox.flags.provider import FlagProvider
from signalbox.intakes.intake import Tools
from signalbox.metrics.counters import NO_COUNTERS, Counters
from signalbox.rollout.service import Rollout
from signalbox.runs.manager import RunManager
from signalbox.services.catalog import Catalog
from signalbox.services.images import ImageLoader
from signalbox.services.tool_executor import ToolExecutor
from signalbox.services.upstreams.registry import Upstreams
from signalbox.store.database import Database
from signalbox.webhooks.queue import Webhooks


@dataclass(frozen=True, slots=True)
class Services:
    """The services of one process.

    `is_simulated`: the upstream is the simulator. `search_is_paid` lowers the default limit of searches.
    `is_traced`: runs are traced, below the span that a request names.
    """

    settings: Settings
    upstreams: Upstreams
    reload_upstreams: UpstreamsReload
    executor: ToolExecutor
    catalog: Catalog
    models: ModelList
    openai_models: OpenAiModelList
    runs: RunManager
    streams: Streams
    quota: Quota
    admission: Admission
    database: Database
    flag_override: OverrideStore
    flag_provider: FlagProvider | None
    rollout: Rollout
    image_addresses: ImageAddresses
    images: ImageLoader
    is_simulated: bool
    webhooks: Webhooks
    search_is_paid: bool = False
    is_traced: bool = False
    counters: Counters = NO_COUNTERS


def services_of(request: Request) -> Services:
    """Return the services of the process that received a request."""
    return request.app.state.services


def tools_of(services: Services, caller: Caller) -> Tools:
    """Return this server's tools for an intake, and which of them the caller may use."""
    settings = services.settings
    return Tools(
        services.executor.by_name,
        settings.signalbox_server_tools,
        settings.signalbox_default_model,
        (caller.policy, caller.group_policy),
    )


async def _services(request: Request) -> Services:
    # Async although it awaits nothing: FastAPI would run a plain function in a thread, on every request.
    return services_of(request)


ServicesDep = Annotated[Services, Depends(_services)]
