"""Sets up the SDK of OpenTelemetry: resource, sampler and exporter, which its environment variables configure."""

import asyncio
from contextlib import AsyncExitStack, suppress
from threading import Thread
from uuid import uuid4

from opentelemetry.sdk.resources import SERVICE_INSTANCE_ID, SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from signalbox.tracing.exporter import Queue, WatchedExporter, silence_sdk
from signalbox.tracing.ids import IdGenerator
from signalbox.tracing.losses import Losses
from signalbox.tracing.options import Options
from signalbox.tracing.run_traces import RunTraces

# How long a shutdown waits for the last batch. A drain takes longer, and a collector that is down must not delay it.
FLUSH_SECONDS = 3.0


def open_traces(options: Options, version: str, stack: AsyncExitStack) -> RunTraces:
    """Return the listener that traces runs; `stack` exports the last spans and stops the exporter's thread."""
    silence_sdk()
    losses = Losses(options.queue_size)
    exporter = WatchedExporter(losses)
    batches = BatchSpanProcessor(exporter, max_queue_size=options.queue_size)
    provider, ids = make_provider(Queue(batches, losses), version)
    stack.callback(losses.close)
    stack.push_async_callback(_shut_down, provider, exporter)
    return RunTraces(provider.get_tracer("signalbox", version), ids, options)


def make_provider(processor: SpanProcessor, version: str) -> tuple[TracerProvider, IdGenerator]:
    """Return a provider and its ids."""
    ids = IdGenerator()
    # The sampler comes from OTEL_TRACES_SAMPLER. `stack` shuts down: atexit could wait for half a minute.
    provider = TracerProvider(resource=_resource(version), id_generator=ids, shutdown_on_exit=False)
    provider.add_span_processor(processor)
    return provider, ids


def _resource(version: str) -> Resource:
    """Return what OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say, with our name and version as defaults."""
    given = Resource.create()
    ours = {SERVICE_VERSION: version, SERVICE_INSTANCE_ID: str(uuid4())}
    if str(given.attributes.get(SERVICE_NAME, "unknown_service")).startswith("unknown_service"):
        return given.merge(Resource({SERVICE_NAME: "signalbox", **_missing(ours, given)}))
    return given.merge(Resource(_missing(ours, given)))


def _missing(ours: dict[str, str], given: Resource) -> dict[str, str]:
    return {name: value for name, value in ours.items() if not given.attributes.get(name)}


async def _shut_down(provider: TracerProvider, exporter: WatchedExporter) -> None:
    """Export what is left, for a few seconds at most."""
    loop, is_done = asyncio.get_running_loop(), asyncio.Event()

    def work() -> None:
        provider.shutdown()
        with suppress(RuntimeError):  # the loop is closed: it took too long
            loop.call_soon_threadsafe(is_done.set)

    Thread(target=work, name="traces", daemon=True).start()
    try:
        async with asyncio.timeout(FLUSH_SECONDS):
            await is_done.wait()
    except TimeoutError:
        exporter.shutdown()  # ends its retries
