"""Propagators that are not installed do not break the import of FastAPI."""

import subprocess
import sys
from pathlib import Path

import pytest
from signalbox.tracing.propagators import drop_unknown_propagators

from tests.support.processes import environment


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("b3", "none"),
        ("tracecontext,b3", "tracecontext"),
        ("TraceContext, Baggage", "tracecontext,baggage"),
        ("tracecontext,", "tracecontext"),
        ("tracecontext, baggage", "tracecontext, baggage"),
        ("none", "none"),
        ("", ""),
    ],
)
def test_propagators_that_are_kept(given: str, kept: str) -> None:
    """Those that OpenTelemetry finds."""
    variables = {"OTEL_PROPAGATORS": given}
    drop_unknown_propagators(variables)
    assert variables == {"OTEL_PROPAGATORS": kept}


def test_nothing_is_added() -> None:
    """Without the variable, the default applies."""
    variables: dict[str, str] = {}
    drop_unknown_propagators(variables)
    assert variables == {}


@pytest.mark.e2e
@pytest.mark.parametrize("propagators", ["b3", "tracecontext,b3"])
def test_the_server_starts_with_any_propagator(tmp_path: Path, propagators: str) -> None:
    """Up to the port, which is invalid here; without the variable's correction, the start ends with a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "signalbox", "serve", "--port", "-1"],
        cwd=tmp_path,
        env=environment(OTEL_PROPAGATORS=propagators),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.startswith("signalbox: -1 is not a valid port.")
