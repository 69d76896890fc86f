"""Propagators that OpenTelemetry would not find. FastAPI imports OpenTelemetry, and its import would fail for them."""

from collections.abc import MutableMapping

PROPAGATORS = "OTEL_PROPAGATORS"
_BUILT_IN = ("tracecontext", "baggage", "none")


def drop_unknown_propagators(variables: MutableMapping[str, str]) -> None:
    """Remove propagators from OTEL_PROPAGATORS that are not installed; if none is left, it becomes `none`."""
    given = variables.get(PROPAGATORS, "")
    if not given or all(word.strip() in _BUILT_IN for word in given.split(",")):
        return
    from importlib.metadata import entry_points  # takes 10 ms

    words = [word.strip().lower() for word in given.split(",")]
    found = {*_BUILT_IN, *(point.name for point in entry_points(group="opentelemetry_propagator"))}
    variables[PROPAGATORS] = ",".join(word for word in words if word in found) or "none"
