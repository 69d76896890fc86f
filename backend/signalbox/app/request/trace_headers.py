"""The W3C trace context of a request: the headers `traceparent` and `tracestate`."""

from collections.abc import Mapping

from starlette.types import Scope


def trace_headers_of(scope: Scope) -> Mapping[str, str]:
    """Return both headers as they were sent; without exactly one traceparent, neither counts.

    Several tracestates are one list in several lines (RFC 9110). Whether they are valid, the tracing decides.
    """
    parents: list[str] = []
    states: list[str] = []
    for name, value in scope["headers"]:
        if name == b"traceparent":
            parents.append(value.decode("latin-1"))
        elif name == b"tracestate":
            states.append(value.decode("latin-1"))
    if len(parents) != 1:
        return {}
    return {"traceparent": parents[0], **({"tracestate": ",".join(states)} if states else {})}
