"""A stand-in for an OpenTelemetry collector: receives OTLP/HTTP on loopback and decodes the protobuf."""

import gzip
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1 import trace_pb2

WAIT = 10.0
Tree = tuple[str, list["Tree"]]


@dataclass
class Span:
    """One received span; ids are hexadecimal, `parent` is empty for a root."""

    name: str
    trace: str
    id: str
    parent: str
    kind: str
    status: str
    message: str
    start: int
    end: int
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]]


@dataclass
class Collector:
    """Collects what arrives at `/v1/traces`; `status` is its answer, `rejected` the number of spans that it refuses.

    While `answers` is cleared, requests wait.
    """

    status: int = 200
    rejected: int = 0
    answers: threading.Event = field(default_factory=threading.Event)
    spans: list[Span] = field(default_factory=list[Span])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    bodies: list[bytes] = field(default_factory=list[bytes])
    resource: dict[str, Any] = field(default_factory=dict[str, Any])
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def __enter__(self) -> Self:
        collector = self
        self.answers.set()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                self.send_response(collector.receive(self.path, dict(self.headers.items()), body))
                partial = ExportTracePartialSuccess(rejected_spans=collector.rejected)
                answer = ExportTraceServiceResponse(partial_success=partial).SerializeToString()
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=lambda: self._server.serve_forever(0.01), name="collector", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.answers.set()
        self._server.shutdown()
        self._server.server_close()

    def receive(self, path: str, headers: dict[str, str], body: bytes) -> int:
        """Take one request; return the status of the answer."""
        assert path == "/v1/traces"
        headers = {name.lower(): value for name, value in headers.items()}
        assert headers["content-type"] == "application/x-protobuf"
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        with self._changed:
            self.headers.append(headers)
            self.bodies.append(body)
            if self.status == 200:
                self._take(ExportTraceServiceRequest.FromString(body))
            self._changed.notify_all()
        self.answers.wait(WAIT)
        return self.status

    def _take(self, request: ExportTraceServiceRequest) -> None:
        for there in request.resource_spans:
            self.resource = _attributes(there.resource.attributes)
            self.spans += [_span(span) for scope in there.scope_spans for span in scope.spans]

    def wait_until(self, holds: Callable[[], bool]) -> bool:
        """Wait until a condition on what was received holds."""
        with self._changed:
            return self._changed.wait_for(holds, WAIT)

    def wait_for_runs(self, count: int = 1) -> None:
        """Wait until the spans of so many runs have arrived; those of their children arrive before."""
        assert self.wait_until(lambda: len(self.named("invoke_agent")) >= count), self.trees()

    def named(self, name: str) -> list[Span]:
        """Return the spans with a name, by start."""
        return sorted((span for span in self.spans if span.name == name), key=lambda span: span.start)

    def the(self, name: str) -> Span:
        """Return the only span with a name."""
        [span] = self.named(name)
        return span

    def trees(self) -> list[Tree]:
        """Return the names of all spans as trees, by start. A parent that did not arrive makes a span a root."""
        ids = {span.id for span in self.spans}
        return [self._tree(span) for span in self._by_start() if span.parent not in ids]

    def _tree(self, span: Span) -> Tree:
        return span.name, [self._tree(one) for one in self._by_start() if one.parent == span.id]

    def _by_start(self) -> list[Span]:
        return sorted(self.spans, key=lambda span: span.start)


def _span(span: trace_pb2.Span) -> Span:
    return Span(
        name=span.name,
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        kind=trace_pb2.Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
        status=trace_pb2.Status.StatusCode.Name(span.status.code).removeprefix("STATUS_CODE_").lower(),
        message=span.status.message,
        start=span.start_time_unix_nano,
        end=span.end_time_unix_nano,
        attributes=_attributes(span.attributes),
        events=[(event.name, _attributes(event.attributes)) for event in span.events],
    )


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return None if kind is None else getattr(value, kind)
