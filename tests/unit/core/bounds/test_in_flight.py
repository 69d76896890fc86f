"""What large bodies and answers hold at once while they come in."""

from signalbox.core.bounds.in_flight import UNCOUNTED, InFlight


def test_only_what_is_large_is_counted_and_all_of_it_is_given_back() -> None:
    """Bytes beyond the first megabyte count until their body is whole, however it ends."""
    all_of_it = InFlight(most=1_000)
    with all_of_it.share() as small, all_of_it.share() as large:
        assert small.hold(UNCOUNTED)
        assert large.hold(UNCOUNTED + 600)
        assert large.hold(UNCOUNTED + 900)
        assert all_of_it.held == 900
        assert not small.hold(UNCOUNTED + 101)
        assert small.hold(UNCOUNTED + 100)
    assert all_of_it.held == 0


def test_what_is_refused_leaves_the_others_their_share() -> None:
    """A body that finds no room changes nothing, and finds it once another one is whole."""
    all_of_it = InFlight(most=1_000)
    with all_of_it.share() as late:
        with all_of_it.share() as first:
            assert first.hold(UNCOUNTED + 1_000)
            assert not late.hold(UNCOUNTED + 1)
            assert all_of_it.held == 1_000
        assert late.hold(UNCOUNTED + 1)
