"""Checks the collector of traces, with an empty request."""

import asyncio

from signalbox.app.config import SettingsError
from signalbox.app.settings.tracing import probe_collector, tracing_options
from signalbox.commands.doctor.finding import Finding, fail, ok, refusal
from signalbox.commands.doctor.key import host_of

SECONDS = 4.0


async def check_traces() -> list[Finding]:
    """Report whether the collector accepts traces, if one is set."""
    try:
        options = tracing_options()
    except SettingsError:  # read_settings reports it
        return []
    if options is None:
        return []
    try:
        error = await asyncio.to_thread(probe_collector, SECONDS)
    except SettingsError as refused:
        return [refusal("traces", refused)]
    where = host_of(options.endpoint)
    if error is None:
        return [ok("traces", f"{where} accepts traces.")]
    words = f"{where} does not accept traces ({error})."
    todo = "Start the collector, or correct OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS."
    return [fail("traces", words, todo)]
