"""What a record keeps for the log and the trace of a run that a crash interrupts."""

from typing import cast

from signalbox.chat.loops.progress import Progress
from signalbox.core.ports import Destination, RunStore
from signalbox.core.records import RunRecord
from signalbox.runs.run import StartOptions, new_run

from tests.support.loop_runs import context_for

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


def opened(trace_id: str = "", parent: str = "", **echo: str) -> RunRecord:
    """Return the record of a run whose trace is known."""
    context = context_for()
    context.request_id, context.trace_id = "req-1", trace_id
    context.trace_headers = {"traceparent": parent} if parent else {}
    context.use_destination(Destination(upstream="backup"))
    run = new_run(context, Progress(), cast("RunStore", None), StartOptions(echo={**echo}))
    run.keep_origin()
    return run.opening


def test_the_ids_and_the_upstream_are_kept() -> None:
    """Beside what the encoder needs."""
    record = opened(TRACE, PARENT, thread_id="t")
    assert record.origin == {"request_id": "req-1", "trace_id": TRACE, "traceparent": PARENT, "upstream": "backup"}
    assert record.echo["thread_id"] == "t"


def test_a_traceparent_that_was_not_used_is_not_kept() -> None:
    """It was invalid, or traces are off; then it may contain any text."""
    assert opened("", PARENT).origin == {"request_id": "req-1", "upstream": "backup"}
    assert "traceparent" not in opened("0af7651916cd43dd8448eb211c80319c", PARENT).origin


def test_a_long_traceparent_is_cut() -> None:
    """Later versions may add fields, without a limit."""
    assert opened(TRACE, f"01{PARENT[2:]}-{'x' * 5000}").origin["traceparent"] == f"01{PARENT[2:]}"


def test_a_record_of_an_earlier_version_has_no_origin() -> None:
    """Its values are missing."""
    assert RunRecord("r", "openai/sim", "v2").origin == {}
