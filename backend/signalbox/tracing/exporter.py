"""Exports spans in batches from a separate thread; a collector that does not answer loses spans and costs one line."""

import logging
from collections.abc import Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from signalbox.core.log import Log

_log = Log(__name__)
# The exporter logs each retry, and the processor each full queue; LoggingExporter logs a failure once instead.
_CHATTY = ("opentelemetry.exporter", "opentelemetry.sdk._shared_internal", "opentelemetry.sdk.trace")


def silence_sdk() -> None:
    """Drop the warnings of the SDK about exports."""
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class LoggingExporter(SpanExporter):
    """Exports by OTLP/HTTP; logs the first failed batch, and that spans arrive again with the number of lost ones."""

    def __init__(self, exporter: SpanExporter | None = None) -> None:
        self._exporter = exporter or OTLPSpanExporter()
        self._lost = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export a batch, in the thread of the batch processor."""
        try:
            result = self._exporter.export(spans)
        except Exception as error:  # noqa: BLE001 - a bug of the exporter must not end its thread
            return self._failed(len(spans), type(error).__name__)
        if result is not SpanExportResult.SUCCESS:
            return self._failed(len(spans), None)
        if self._lost:
            _log.info("traces.exported_again", lost=self._lost)
            self._lost = 0
        return result

    def _failed(self, count: int, error: str | None) -> SpanExportResult:
        if not self._lost:
            _log.warning("traces.export_failed", lost=count, error=error)
        self._lost += count
        return SpanExportResult.FAILURE

    def shutdown(self) -> None:
        """Stop retries."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Nothing is buffered here."""
        return self._exporter.force_flush(timeout_millis)
