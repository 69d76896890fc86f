"""The port through which metrics, traces and logs observe the work of one run: its attempts, retries and tool calls."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # both modules call observers
    from signalbox.chat.calls.running_call import RunningCall
    from signalbox.chat.loops.progress import Attempt
    from signalbox.core.errors import UpstreamError
    from signalbox.core.events import AnyEvent
    from signalbox.core.parts import Completion, Request

NO_HEADERS: Mapping[str, str] = {}


class RunObserver:
    """Observes one run; this base class ignores everything. The methods return at once and must not raise.

    They are called at the boundaries of attempts and tool calls, never for a streamed event.
    """

    def attempt_began(self, attempt: "Attempt") -> Mapping[str, str]:
        """Observe the beginning of a request to an upstream; return headers to send with it, such as `traceparent`."""
        del attempt
        return NO_HEADERS

    def attempt_read(self, attempt: "Attempt", request: "Request", completion: "Completion") -> None:
        """Observe a request and its answer, as far as it was read, just before the attempt ends. Both have content."""

    def attempt_ended(self, attempt: "Attempt") -> None:
        """Observe the end of a request; the attempt has its outcome. Each attempt that began ends once."""

    def upstreams_skipped(self, names: Sequence[str]) -> None:
        """Observe that the run begins at a later upstream of its route: these have failed repeatedly."""

    def retry_planned(self, error: "UpstreamError", wait: float, warnings: "Sequence[AnyEvent]") -> None:
        """Observe that another attempt follows after `wait` seconds.

        `warnings` say what its request gives up, or that it goes to another upstream.
        """

    def tool_began(self, call: "RunningCall") -> Mapping[str, str]:
        """Observe that one of our tools is about to be executed; return headers for its requests (`trace_headers`)."""
        del call
        return NO_HEADERS

    def tool_ended(self, call: "RunningCall") -> None:
        """Observe the result of a call. Calls that were rejected or reuse a search never began."""


class RunObservers(RunObserver):
    """Several observers of one run as one. If two return a header of the same name, the last one counts."""

    def __init__(self, observers: Sequence[RunObserver]) -> None:
        self._observers = observers

    def attempt_began(self, attempt: "Attempt") -> Mapping[str, str]:  # noqa: D102
        return _merged([one.attempt_began(attempt) for one in self._observers])

    def attempt_read(self, attempt: "Attempt", request: "Request", completion: "Completion") -> None:  # noqa: D102
        for one in self._observers:
            one.attempt_read(attempt, request, completion)

    def attempt_ended(self, attempt: "Attempt") -> None:  # noqa: D102
        for one in self._observers:
            one.attempt_ended(attempt)

    def upstreams_skipped(self, names: Sequence[str]) -> None:  # noqa: D102
        for one in self._observers:
            one.upstreams_skipped(names)

    def retry_planned(self, error: "UpstreamError", wait: float, warnings: "Sequence[AnyEvent]") -> None:  # noqa: D102
        for one in self._observers:
            one.retry_planned(error, wait, warnings)

    def tool_began(self, call: "RunningCall") -> Mapping[str, str]:  # noqa: D102
        return _merged([one.tool_began(call) for one in self._observers])

    def tool_ended(self, call: "RunningCall") -> None:  # noqa: D102
        for one in self._observers:
            one.tool_ended(call)


def combined(observers: Sequence[RunObserver]) -> RunObserver:
    """Return one observer for these."""
    if not observers:
        return IGNORE
    return observers[0] if len(observers) == 1 else RunObservers(observers)


def _merged(headers: Sequence[Mapping[str, str]]) -> Mapping[str, str]:
    return {name: value for some in headers for name, value in some.items()}


IGNORE = RunObserver()
