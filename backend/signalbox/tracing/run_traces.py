"""Traces runs: a span for each run, below it one for each attempt and each call of our tools."""

from collections.abc import Mapping, Sequence
from time import time_ns

from msgspec import UNSET
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, format_trace_id
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from signalbox.chat.calls.running_call import RunningCall
from signalbox.chat.loops.progress import Attempt
from signalbox.chat.observer import NO_HEADERS, RunObserver
from signalbox.core.bounds.run_limits import has_failed
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Warning
from signalbox.core.messages import Message, UserMessage
from signalbox.core.parts import Completion, Request
from signalbox.core.records import RunRecord
from signalbox.runs.run import Run
from signalbox.tracing import names as own
from signalbox.tracing.attributes import (
    Attributes,
    attempt_attributes,
    call_ids,
    outcome_attributes,
    param_attributes,
    put,
    run_attributes,
    tool_attributes,
    total_attributes,
)
from signalbox.tracing.content import call_content, exchange_attributes, run_content
from signalbox.tracing.ids import IdGenerator, ids_of
from signalbox.tracing.options import Options

_PROPAGATOR = TraceContextTextMapPropagator()


class RunTraces:
    """A RunListener that traces every run."""

    def __init__(self, tracer: Tracer, ids: IdGenerator, options: Options) -> None:
        self._tracer = tracer
        self._ids = ids
        self._options = options
        self._runs: dict[str, RunSpans] = {}

    def started(self, run: Run) -> RunObserver:
        """Start the span of a run, below the span of its request if the client named one."""
        incoming = run.context.trace_headers if self._options.propagates else NO_HEADERS
        self._ids.use_next(ids_of(run.id))
        span = self._tracer.start_span(
            "invoke_agent",
            context=_PROPAGATOR.extract(incoming, Context()),
            attributes=run_attributes(self._options.names, run.opening, run.context),
        )
        run.context.trace_id = format_trace_id(span.get_span_context().trace_id)
        spans = self._runs[run.id] = RunSpans(run, span, self._tracer, self._options)
        return spans

    def over(self, run: Run) -> None:
        """End the spans of a run."""
        self._runs.pop(run.id).end()

    def recovered(self, record: RunRecord) -> None:
        """Export the span of a run that a crash interrupted; its finished children have been exported before."""
        given = record.origin.get("traceparent")
        self._ids.use_next(ids_of(record.id))
        names = self._options.names
        span = self._tracer.start_span(
            "invoke_agent",
            context=_PROPAGATOR.extract({"traceparent": given} if given else {}, Context()),
            attributes={
                **run_attributes(names, record, None),
                own.UPSTREAM: record.upstream or record.origin.get("upstream") or self._options.only_upstream,
                own.RECOVERED: True,
            },
            start_time=_nanoseconds(record.started),
        )
        span.set_attributes(total_attributes(names, record.usage))
        _end(span, record.status, record.code, record.ended)


class RunSpans(RunObserver):
    """The spans of one run."""

    def __init__(self, run: Run, span: Span, tracer: Tracer, options: Options) -> None:
        self._run = run
        self._span = span
        self._tracer = tracer
        self._options = options
        self._names = options.names
        self._attempts: dict[int, Span] = {}
        self._calls: dict[str, Span] = {}
        question = next((one for one in reversed(run.context.messages) if isinstance(one, UserMessage)), None)
        self._question: Message | None = question if options.captures_content else None
        self._answer: Completion | None = None

    def attempt_began(self, attempt: Attempt) -> Mapping[str, str]:
        """Start the span of a model call, below the tool that sends it if one does."""
        parent = self._calls.get(attempt.tool_call, self._span) if attempt.tool_call else self._span
        span = self._tracer.start_span(
            f"chat {attempt.model}",
            context=trace.set_span_in_context(parent, Context()),
            kind=SpanKind.CLIENT,
            attributes=attempt_attributes(self._names, attempt, self._run.context, self._options.only_upstream),
        )
        self._attempts[id(attempt)] = span
        return self._headers(span)

    def attempt_read(self, attempt: Attempt, request: Request, completion: Completion) -> None:
        """Add the parameters of the request, and its content if that is switched on."""
        span = self._attempts.get(id(attempt))
        if span is None or not span.is_recording():
            return
        span.set_attributes(param_attributes(self._names, request.params))
        if self._options.captures_content:
            span.set_attributes(exchange_attributes(self._names, request.messages, completion))
            if not attempt.tool_call:
                self._answer = completion

    def attempt_ended(self, attempt: Attempt) -> None:
        """End the span of a model call."""
        span = self._attempts.pop(id(attempt), None)
        if span is None:
            return
        if attempt.first_part is not None:
            span.add_event(own.FIRST_CHUNK, timestamp=_nanoseconds(attempt.first_part))
        span.set_attributes(outcome_attributes(self._names, attempt))
        if attempt.error is not None:
            span.set_status(Status(StatusCode.ERROR, attempt.code))
        span.end()

    def retry_planned(self, error: UpstreamError, wait: float, warnings: Sequence[AnyEvent]) -> None:
        """Add an event to the run: why it retries, when, and what the next request gives up."""
        codes = [str(one.code) for one in warnings if isinstance(one, Warning)]
        values: Attributes = {own.ERROR_TYPE: str(error.code), own.RETRY_WAIT: wait, own.RETRY_CODES: codes}
        self._span.add_event(own.RETRY, values)

    def tool_began(self, call: RunningCall) -> Mapping[str, str]:
        """Start the span of a call of one of our tools."""
        if call.outcome is not None:  # withdrawn: an equal call may still use its result, but this one has ended
            return self._headers(self._span)
        span = self._tracer.start_span(
            f"execute_tool {call.name}",
            context=trace.set_span_in_context(self._span, Context()),
            attributes=tool_attributes(self._names, call),
        )
        self._calls[call.id] = span
        return self._headers(span)

    def tool_ended(self, call: RunningCall) -> None:
        """End the span of a call. One that never began is an event: rejected, or answered by an equal search."""
        outcome, span = call.outcome, self._calls.get(call.id)
        code = str(outcome.code) if outcome is not None and outcome.code else None
        if span is None:
            # A model may invent names, and write text into them.
            name = call.name if call.spec is not None else None
            values = {self._names.tool_name: name, **call_ids(self._names, call), own.ERROR_TYPE: code}
            self._span.add_event(own.CALL_REUSED if call.cached else own.CALL_REJECTED, put({}, values))
            return
        if outcome is not None and self._options.captures_content:
            span.set_attributes(call_content(self._names, call.arguments, outcome.for_model()))
        _end_with(span, code, None)

    def end(self) -> None:
        """End all spans: those of calls that were still open first."""
        run, done = self._run, self._run.done
        status = done.status if done is not None else "interrupted"
        code = None if done is None or done.code is UNSET else done.code
        for span in [*self._attempts.values(), *self._calls.values()]:
            if span.is_recording():
                _end_with(span, str(code or Code.CANCELLED), None)
        if self._options.captures_content:
            self._span.set_attributes(run_content(self._names, self._question, self._answer))
        progress = run.progress
        values = {
            own.UPSTREAM: progress.upstream or run.context.destination.upstream or self._options.only_upstream,
            own.STEPS: progress.steps,
            own.ATTEMPTS: len(progress.attempts),
        }
        self._span.set_attributes(put(total_attributes(self._names, progress.usage), values))
        _end(self._span, status, code, run.ended)

    def _headers(self, span: Span) -> Mapping[str, str]:
        """Return the headers that make a span the parent of the receiver's."""
        if not self._options.propagates:
            return NO_HEADERS
        headers: dict[str, str] = {}
        _PROPAGATOR.inject(headers, trace.set_span_in_context(span, Context()))
        return headers


def _end(span: Span, status: str | None, code: str | None, ended: float | None) -> None:
    """End the span of a run with its status."""
    span.set_attribute(own.STATUS, status or "interrupted")
    failed = has_failed(status, code)
    if code is not None:
        span.set_attribute(own.ERROR_TYPE if failed else own.CODE, code)
    if failed:
        span.set_status(Status(StatusCode.ERROR, code))
    span.end(_nanoseconds(ended) if ended is not None else None)


def _end_with(span: Span, code: str | None, ended: float | None) -> None:
    """End a span, as failed if it has a code."""
    if code is not None:
        span.set_attribute(own.ERROR_TYPE, code)
        span.set_status(Status(StatusCode.ERROR, code))
    span.end(_nanoseconds(ended) if ended is not None else time_ns())


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1e9)
