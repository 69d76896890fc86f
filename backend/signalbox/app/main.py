"""Makes the app: services, routes, middleware and static files."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from signalbox import __version__
from signalbox.app.access import Authenticator, HostUser, TokenCache
from signalbox.app.asgi.compression import Compress
from signalbox.app.asgi.content_policy import policy_with
from signalbox.app.asgi.lean_app import LeanApp
from signalbox.app.asgi.route_bypass import RouteBypass
from signalbox.app.asgi.security import AccessControl, ResponseHeaders
from signalbox.app.asgi.static_files import mount_files, public_paths
from signalbox.app.audit import routes as audit
from signalbox.app.config import Settings, load_settings
from signalbox.app.database_setup import database_error, open_database, start_retention
from signalbox.app.deps import Services
from signalbox.app.errors import UncaughtErrors, add_error_handlers
from signalbox.app.folders import data_folder
from signalbox.app.limits.open_streams import Streams
from signalbox.app.limits.setup import open_admission, quota_of
from signalbox.app.logs.rejected_requests import RejectionLog
from signalbox.app.logs.run_log import RunLog
from signalbox.app.logs.setup import configure_logs, log_through_host
from signalbox.app.metrics.router import add_metrics
from signalbox.app.metrics.scrape import PATH as METRICS_PATH
from signalbox.app.metrics.setup import counted, metrics_of
from signalbox.app.model_list import ModelList, OpenAiModelList
from signalbox.app.openapi.document import add_openapi, operation_id
from signalbox.app.operator_token import admin_token
from signalbox.app.process.cluster_member import join, sharing_of
from signalbox.app.process.gc_tuning import freeze
from signalbox.app.process.memory_release import Upkeep, tune
from signalbox.app.process.warm_up import warm_up
from signalbox.app.protocols import PROTOCOLS, ClientProtocol, ErrorFormats, by_path
from signalbox.app.rollout import routes as rollout
from signalbox.app.rollout.setup import guard_rollout
from signalbox.app.routers import (
    ai_sdk,
    assistant,
    chat,
    contract,
    conversations,
    files,
    flags,
    health,
    images,
    models,
    openai_models,
    run_reports,
    runs,
    saves,
    spend,
    tokens,
    tools,
    upstreams,
    variants,
)
from signalbox.app.settings.tracing import open_tracing, tracing_options
from signalbox.app.shadow import router as shadow
from signalbox.app.shadow.setup import open_shadow
from signalbox.app.shared_settings import image_addresses_from, key_delimiters_from, open_flag_provider, open_override
from signalbox.app.sign_in import routes as sign_in
from signalbox.app.sign_in import session_routes
from signalbox.app.sign_in.setup import SignIn, sign_in_of
from signalbox.app.tool_setup import fill_toolbox, image_loader, image_model_of
from signalbox.app.upstreams.reload import UpstreamsReload
from signalbox.app.upstreams.setup import open_upstreams, read_upstreams_file
from signalbox.app.webhooks import router as webhooks
from signalbox.app.webhooks.setup import open_webhooks
from signalbox.core.errors import StoreError
from signalbox.core.tools import Tool
from signalbox.flags.shared_override import SharedOverride
from signalbox.runs.billing import Settlements
from signalbox.runs.listeners import RunListener, RunListeners
from signalbox.runs.manager import RunManager
from signalbox.services.search import search_client
from signalbox.services.tool_executor import ToolExecutor
from signalbox.services.upstreams.file import LoadedUpstreams
from signalbox.store.runs.journal import JournalStore
from signalbox.tracing.options import Options
from signalbox.webhooks.events import RunEndings
from signalbox.webhooks.queue import Webhooks

if TYPE_CHECKING:
    from signalbox.metrics.metrics import Metrics

# Headers of a response that it may read.
_EXPOSED = [
    "x-chat-contract",
    "x-request-id",
    "x-run-id",
    "x-tool-loop",
    "x-conversation-id",
    "x-message-id",
    "x-file-version",
    "retry-after",
    "x-should-retry",
    assistant.REPLAY_HEADER,
    "content-disposition",
]
_PUBLIC = (contract.PATH, contract.TABLE_PATH, "/openapi.json", METRICS_PATH)
# The order of the OpenAPI document, after the paths of the client protocols.
_ROUTES = (
    *(variants, ai_sdk, assistant, runs, run_reports, conversations, files, saves, models),
    *(openai_models, tools, contract, flags, rollout, shadow, audit, tokens, spend, webhooks, upstreams),
    *(sign_in, session_routes, health, images),
)


def create_app(
    settings: Settings | None = None,
    *,
    extra_tools: Sequence[Tool] = (),
    token: str | None = None,
    protocols: Sequence[ClientProtocol[Any]] = PROTOCOLS,
    is_embedded: bool = False,
    host_user: HostUser | None = None,
) -> FastAPI:
    """Make the app. If `token` is set, all but public paths require it. `extra_tools` are added to the built-in.

    An embedded app is one part of its process: logs, memory and garbage collection are the host's. `host_user`
    identifies the callers without a token.
    """
    settings = settings or load_settings()
    admin = admin_token(settings, data_folder(settings))
    loaded = read_upstreams_file(settings)
    traced = None if is_embedded else tracing_options()
    secrets = [admin.value, *(loaded.secrets if loaded else ()), *(traced.secrets if traced else ())]
    hide = _set_up_logs(settings, secrets, is_embedded=is_embedded)
    rejections = RejectionLog()
    measured = metrics_of(settings, rejections, is_embedded=is_embedded)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
        if not is_embedded:
            tune()
        async with AsyncExitStack() as stack:
            stack.callback(rejections.flush)
            app.state.services = await _services(
                settings, loaded, hide, extra_tools, stack, traced=traced, measured=measured
            )
            app.state.tokens = TokenCache(app.state.services.database)
            stack.push_async_callback(app.state.tokens.aclose)
            await app.state.sign_in.open(settings, app.state.services.database, stack)
            stack.callback(asyncio.create_task(warm_up(app, app.state.services), name="warming").cancel)
            if not is_embedded:
                freeze()
                streams = app.state.services.streams
                upkeep = Upkeep(is_idle=lambda: streams.open == 0)
                stack.callback(asyncio.create_task(upkeep.work(), name="upkeep").cancel)
            yield

    app = LeanApp(
        title="Signalbox",
        version=__version__,
        summary="One chat endpoint for every model, with tools that always work.",
        lifespan=lifespan,
        generate_unique_id_function=operation_id,
        docs_url=None,  # we serve /docs: FastAPI's page loads its viewer from a public host
        redoc_url=None,
    )
    app.root = settings.signalbox_root_path or ""
    app.state.admin_token = admin
    app.state.sign_in = sign_in_of(
        settings, lambda: app.state.services.database, is_embedded=is_embedded, host_user=host_user
    )
    add_error_handlers(app)
    for router in (chat.router_of(protocols), *(module.router for module in _ROUTES)):
        app.include_router(router)
    add_metrics(app, settings, measured)
    add_openapi(app)
    authenticator = app.state.authenticator = _authenticator(app, settings, token, host_user)
    mount_files(app, settings, [*by_path(protocols), METRICS_PATH], is_open=not authenticator.is_required)
    _add_middleware(app, settings, protocols, authenticator)
    policy = policy_with(settings.signalbox_frame_ancestors)
    app.add_middleware(ResponseHeaders, rejections=rejections, format_of=ErrorFormats(protocols).of, policy=policy)
    return app


def _set_up_logs(settings: Settings, secrets: Sequence[str], *, is_embedded: bool) -> Callable[[Collection[str]], None]:
    """Set up the logs without the secrets of the settings and these; return a function that adds secrets."""
    known = {*settings.secrets}

    def hide(more: Collection[str]) -> None:
        known.update(more)
        if is_embedded:
            log_through_host([*known])
        else:
            is_shared = settings.database_url is not None
            configure_logs(
                settings.signalbox_log_level,
                [*known],
                is_one_of_several=is_shared,
                log_format=settings.signalbox_log_format,
            )

    hide(secrets)
    return hide


def _authenticator(app: FastAPI, settings: Settings, token: str | None, host_user: HostUser | None) -> Authenticator:
    """Return what identifies callers; `token` is the access token, if it is not that of the settings."""
    signing: SignIn = app.state.sign_in
    access, admin = settings.signalbox_access_token, app.state.admin_token
    token = token or (access.get_secret_value() if access else None)
    host_user = host_user or signing.proxy_user
    has_login = host_user is not None or signing.session_user is not None
    is_required = token is not None or has_login or settings.signalbox_require_token
    return Authenticator(is_required, token, admin.value, lambda: app.state.tokens, host_user, signing.session_user)


def _add_middleware(
    app: FastAPI, settings: Settings, protocols: Sequence[ClientProtocol[Any]], authenticator: Authenticator
) -> None:
    """Add the middleware; the last one added handles a request first."""
    origins = settings.signalbox_allowed_origins
    # Innermost: RouteBypass answers requests that start runs before they reach it.
    app.add_middleware(Compress, streams={protocol.encoder.content_type for protocol in protocols})
    endpoints = {path: chat.endpoint_of(protocol) for path, protocol in by_path(protocols).items()}
    app.add_middleware(RouteBypass, endpoints=endpoints)
    app.add_middleware(
        AccessControl,
        hosts=settings.signalbox_allowed_hosts,
        origins=origins,
        caller_of=authenticator.caller_of,
        counts=authenticator.counts,
        public=public_paths(settings, (*_PUBLIC, *sign_in.PUBLIC)),
    )
    app.add_middleware(UncaughtErrors)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["*"],  # SDKs send dozens (x-stainless-os, openai-organization, …); the origin is what counts
            expose_headers=_EXPOSED,
        )


async def _services(
    settings: Settings,
    loaded: LoadedUpstreams | None,
    hide: Callable[[Collection[str]], None],
    extra_tools: Sequence[Tool],
    stack: AsyncExitStack,
    *,
    traced: Options | None,
    measured: "Metrics | None",
) -> Services:
    """Start the services of the process; `stack` closes them in reverse order."""
    folder = data_folder(settings)
    database = await open_database(settings, folder, stack)
    await key_delimiters_from(settings, database)
    image_addresses = await image_addresses_from(settings, database)
    flag_override = await open_override(settings, folder, database, stack)
    upstreams_, catalog = open_upstreams(settings, loaded, folder, stack)
    searching = await stack.enter_async_context(search_client())
    drawing = image_model_of(settings, upstreams_, catalog)
    toolbox = await fill_toolbox(settings, searching, folder, extra_tools, stack, images=drawing)
    sharing = sharing_of(settings, database)
    store, traces = _opened(JournalStore(database, sharing), settings, stack), open_tracing(traced, settings, stack)
    webhooks_ = open_webhooks(settings, database, stack)
    shadows = open_shadow(settings, database, upstreams_, catalog, stack, toolbox=toolbox, counters=measured)
    listeners = RunListeners([*traces, *_listeners(settings, webhooks_, measured), *shadows])
    settlements = Settlements(upstreams_) if loaded or upstreams_.has_bills else None
    runs_ = _run_manager(settings, store, listeners, settlements)
    if sharing is not None:
        on_override = flag_override.refresh if isinstance(flag_override, SharedOverride) else None
        join(runs_, store, sharing, database, stack, on_override=on_override)
    store.on_full = runs_.stop_too_large
    stack.push_async_callback(runs_.aclose)
    try:
        await runs_.recover()
    except StoreError:
        raise database_error(settings) from None
    start_retention(settings, database, stack)
    stack.callback(asyncio.create_task(catalog.entries()).cancel)  # loads it before the first question
    services = Services(
        settings=settings,
        upstreams=upstreams_,
        reload_upstreams=UpstreamsReload(settings, upstreams_, folder, hide, database),
        executor=ToolExecutor(toolbox.tools, images=image_addresses),
        catalog=catalog,
        models=ModelList(catalog, settings.signalbox_default_model),
        openai_models=OpenAiModelList(catalog),
        runs=runs_,
        streams=Streams(settings.signalbox_max_streams, settings.signalbox_max_streams_per_user),
        quota=quota_of(settings, database),
        admission=open_admission(settings, database, store, stack),
        database=database,
        flag_override=flag_override,
        flag_provider=open_flag_provider(settings),
        rollout=guard_rollout(settings, database, flag_override, webhooks_, stack),
        image_addresses=image_addresses,
        images=image_loader(settings, stack),
        is_simulated=settings.is_simulated,
        webhooks=webhooks_,
        search_is_paid=toolbox.search_is_paid,
        is_traced=traced is not None,
    )
    return services if measured is None else counted(services, measured, stack)


def _opened(store: JournalStore, settings: Settings, stack: AsyncExitStack) -> JournalStore:
    stack.push_async_callback(store.aclose)
    store.max_bytes = settings.signalbox_max_run_mb * 1024 * 1024
    return store


def _run_manager(
    settings: Settings, store: JournalStore, listeners: RunListeners, settlements: Settlements | None
) -> RunManager:
    return RunManager(
        store,
        max_active=settings.signalbox_max_runs,
        max_bytes=store.max_bytes,
        detached_seconds=settings.signalbox_detached_seconds,
        on_start=listeners.started,
        on_over=listeners.over,
        on_recovered=listeners.recovered,
        settlements=settlements,
    )


def _listeners(settings: Settings, webhooks_: Webhooks, measured: "Metrics | None") -> Iterator[RunListener]:
    is_debug = settings.signalbox_log_level == "debug"
    yield RunLog(settings.only_upstream, has_decisions=is_debug)  # its lines have the id of the trace
    yield RunEndings(webhooks_.send)
    if measured:
        yield measured.runs
