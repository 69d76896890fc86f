"""The memory of large bodies and answers that are being received."""

from signalbox.core.bounds.in_flight import UNCOUNTED, InFlight


def test_only_large_bodies_are_counted_until_they_end() -> None:
    """Bytes beyond the first megabyte count until the body ends, however it ends."""
    all_of_it = InFlight(most=1_000)
    with all_of_it.share() as small, all_of_it.share() as large:
        assert small.hold(UNCOUNTED)
        assert large.hold(UNCOUNTED + 600)
        assert large.hold(UNCOUNTED + 900)
        assert all_of_it.held == 900
        assert not small.hold(UNCOUNTED + 101)
        assert small.hold(UNCOUNTED + 100)
    assert all_of_it.held == 0


def test_a_rejected_body_does_not_count() -> None:
    """A body over the limit changes nothing, and is accepted once another one has ended."""
    all_of_it = InFlight(most=1_000)
    with all_of_it.share() as late:
        with all_of_it.share() as first:
            assert first.hold(UNCOUNTED + 1_000)
            assert not late.hold(UNCOUNTED + 1)
            assert all_of_it.held == 1_000
        assert late.hold(UNCOUNTED + 1)
