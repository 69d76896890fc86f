"""Which lines say that spans are lost, and with which numbers."""

from typing import Any

from signalbox.tracing.losses import Losses
from structlog.testing import capture_logs


def logged(lines: list[Any]) -> list[tuple[str, int, str | None]]:
    """Return the event, the number and the reason of each line."""
    return [(line["event"], line["lost"], line.get("error")) for line in lines]


def test_a_full_queue_is_logged_once_and_counted() -> None:
    """Until a batch arrives while no further span is dropped."""
    losses = Losses(2)
    with capture_logs() as lines:
        assert [losses.admit() for _ in range(5)] == [True, True, False, False, False]
        losses.begin(2)
        assert [losses.admit() for _ in range(3)] == [True, True, False]
        losses.end(0, "")
        losses.begin(2)
        losses.end(0, "")
        losses.close()
    assert logged(lines) == [("traces.export_failed", 1, "QueueFull"), ("traces.exported_again", 4, None)]


def test_a_full_queue_behind_a_failing_collector_names_the_failure() -> None:
    """The queue is full because of it."""
    losses = Losses(1)
    with capture_logs() as lines:
        losses.admit()
        losses.begin(1)
        losses.cause = "HTTP 503"
        assert [losses.admit(), losses.admit()] == [True, False]
    assert logged(lines) == [("traces.export_failed", 1, "HTTP 503")]


def test_the_stop_counts_what_still_waits() -> None:
    """And what was lost since the last line; later failures of the thread are part of this number."""
    losses = Losses(8)
    with capture_logs() as lines:
        assert all(losses.admit() for _ in range(8))
        losses.begin(3)
        losses.cause = "ConnectionRefusedError"
        losses.end(3, losses.cause)
        losses.begin(2)
        losses.close()
        losses.end(2, losses.cause)
    assert logged(lines) == [
        ("traces.export_failed", 3, "ConnectionRefusedError"),
        ("traces.lost_at_stop", 8, "ConnectionRefusedError"),
    ]


def test_a_stop_without_losses_logs_nothing() -> None:
    """Every span was exported."""
    losses = Losses(8)
    with capture_logs() as lines:
        losses.admit()
        losses.begin(1)
        losses.end(0, "")
        losses.close()
    assert lines == []
