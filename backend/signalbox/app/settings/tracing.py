"""Turns tracing on if OpenTelemetry's environment variables name a collector."""

import os
from contextlib import AsyncExitStack
from dataclasses import replace

from signalbox import __version__
from signalbox.app.config import Settings
from signalbox.app.settings.errors import SettingsError
from signalbox.extras import how_to_install
from signalbox.runs.listeners import RunListener
from signalbox.tracing.options import Options, TracingError, read_options


def tracing_options() -> Options | None:
    """Return the options of traces, None if they are off; raises SettingsError."""
    try:
        return read_options(os.environ)
    except TracingError as error:
        raise SettingsError(str(error)) from None


def open_tracing(options: Options | None, settings: Settings, stack: AsyncExitStack) -> list[RunListener]:
    """Return the listener that traces runs, if traces are on; `stack` exports the last spans. Raises SettingsError."""
    if options is None:
        return []
    try:
        from signalbox.tracing.setup import open_traces  # its packages are an extra, and cost 0.2 s of the start
    except ImportError:
        raise _not_installed() from None
    return [open_traces(replace(options, only_upstream=settings.only_upstream), __version__, stack)]


def probe_collector(seconds: float) -> str | None:
    """Return why the collector does not accept traces, None if it does. Raises SettingsError."""
    try:
        from signalbox.tracing.exporter import probe
    except ImportError:
        raise _not_installed() from None
    return probe(seconds)


def _not_installed() -> SettingsError:
    words = "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages of OpenTelemetry are not installed."
    command = how_to_install("otel")
    return SettingsError(f"{words} {command[:1].upper()}{command[1:]}.")
