"""The log and the traces name the same trace."""

from structlog.testing import capture_logs

from tests.scenarios.tracing.conftest import Trace, saying
from tests.support.collector import Collector
from tests.support.fixtures import StartApp

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def test_lines_of_a_run_name_its_trace(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """The client's if it named one, else the run's own."""
    app, _ = start_app(saying("Hello."))
    body = {"model": "openai/sim", "prompt": "Hi", "tools": []}
    with capture_logs() as lines:
        app.client.post("/api/chat", json=body, headers={"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"})
        app.client.post("/api/chat", json=body)
    collector.wait_for_runs(2)
    logged = [line["trace_id"] for line in lines if line["event"].startswith("run.")]
    [own] = {span.trace for span in collector.spans} - {TRACE}
    assert logged == [TRACE, TRACE, own, own]


def test_without_tracing_there_is_no_id(start_app: StartApp) -> None:
    """Also if the client has a trace: nothing of the run belongs to it."""
    app, _ = start_app(saying("Hello."))
    body = {"model": "openai/sim", "prompt": "Hi", "tools": []}
    with capture_logs() as lines:
        app.client.post("/api/chat", json=body, headers={"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"})
    assert [line["trace_id"] for line in lines if line["event"].startswith("run.")] == [None, None]
