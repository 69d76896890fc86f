"""Exports spans in batches from a separate thread, and learns why the collector did not accept them."""

import logging
from collections.abc import Sequence
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from requests import PreparedRequest, Response, Session
from requests.adapters import HTTPAdapter

from signalbox.tracing.losses import Losses

# The exporter logs each retry, and the processor each full queue; Losses logs a failure once instead.
_CHATTY = ("opentelemetry.exporter", "opentelemetry.sdk._shared_internal", "opentelemetry.sdk.trace")


def silence_sdk() -> None:
    """Drop the warnings of the SDK about exports."""
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class Queue(SpanProcessor):
    """Passes spans to the batch processor until too many wait."""

    def __init__(self, processor: SpanProcessor, losses: Losses) -> None:
        self._processor = processor
        self._losses = losses

    def on_end(self, span: ReadableSpan) -> None:
        """Queue a span, or drop it."""
        if span.context and span.context.trace_flags.sampled and self._losses.admit():
            self._processor.on_end(span)

    def shutdown(self) -> None:
        """Export what waits."""
        self._processor.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Export what waits, and continue."""
        return self._processor.force_flush(timeout_millis)


class WatchedExporter(SpanExporter):
    """Exports by OTLP/HTTP, and reports what became of each batch."""

    def __init__(self, losses: Losses, timeout: float | None = None) -> None:
        self._losses = losses
        self._watch = _Watch(losses)
        session = Session()
        for prefix in ("http://", "https://"):
            session.mount(prefix, self._watch)
        self._exporter = OTLPSpanExporter(session=session, timeout=timeout)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export a batch, in the thread of the batch processor."""
        self._losses.begin(len(spans))
        lost, error = self._export(spans)
        self._losses.end(lost, error)
        return SpanExportResult.FAILURE if lost else SpanExportResult.SUCCESS

    def _export(self, spans: Sequence[ReadableSpan]) -> tuple[int, str]:
        """Return how many spans were lost, and why."""
        try:
            result = self._exporter.export(spans)
        except Exception as error:  # noqa: BLE001 - a bug of the exporter must not end its thread
            return len(spans), type(error).__name__
        if result is not SpanExportResult.SUCCESS or self._losses.cause:  # the exporter takes a redirect for a success
            return len(spans), self._losses.cause or "NotSent"
        return self._watch.rejected, "PartialSuccess"

    def shutdown(self) -> None:
        """Stop retries."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Nothing is buffered here."""
        return self._exporter.force_flush(timeout_millis)


def probe(seconds: float) -> str | None:
    """Export an empty request; return why the collector does not accept it, None if it does."""
    silence_sdk()
    losses = Losses(0)
    exporter = WatchedExporter(losses, seconds)
    exporter.export(())
    exporter.shutdown()
    return losses.cause


class _Watch(HTTPAdapter):
    """Sends the requests, and keeps how the last one ended: the exporter only logs it."""

    def __init__(self, losses: Losses) -> None:
        super().__init__()
        self._losses = losses
        self.rejected = 0

    def send(self, request: PreparedRequest, *args: Any, **options: Any) -> Response:
        """Send one attempt."""
        self.rejected = 0
        try:
            response = super().send(request, *args, **options)
            body = response.content
        except Exception as error:
            self._losses.cause = _kind_of(error)
            raise
        if 200 <= response.status_code < 300:
            self._losses.cause = None
            self.rejected = _rejected(body)
        else:
            self._losses.cause = f"HTTP {response.status_code}"
        return response


def _kind_of(error: BaseException) -> str:
    """Return the type of the first cause, such as ConnectionRefusedError; requests and urllib3 wrap it three times."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return type(error).__name__


def _rejected(body: bytes) -> int:
    """Return how many spans the collector did not take although it accepted the request."""
    try:
        return ExportTraceServiceResponse.FromString(body).partial_success.rejected_spans
    except DecodeError:  # the answer of a collector that does not keep to the protocol
        return 0
