"""When a failed delivery is retried."""

import pytest
from signalbox.webhooks.schedule import MOST_ATTEMPTS, retry_at, seconds_in

HOUR = 3600.0


@pytest.mark.parametrize(("jitter", "hours"), [(0.0, 21.9), (1.0, 26.3)])
def test_retries_take_about_a_day(jitter: float, hours: float):
    """Twelve attempts, each delay four times the one before up to four hours; jitter adds up to a fifth."""
    now, delays = 0.0, list[float]()
    for attempts in range(1, MOST_ATTEMPTS + 1):
        at = retry_at(attempts, now, None, lambda: jitter)
        if at is None:
            break
        delays.append(at - now)
        now = at
    assert len(delays) == MOST_ATTEMPTS - 1
    assert delays[:3] == pytest.approx([5 * (1 + jitter / 5), 20 * (1 + jitter / 5), 80 * (1 + jitter / 5)])
    assert now / HOUR == pytest.approx(hours, abs=0.1)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        ("1.5", 1.5),
        ("Thu, 01 Jan 1970 01:00:00 GMT", 2600),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0),
        ("-5", 0),
        ("nan", 0),
        ("inf", 0),
        ("soon", 0),
        ("", 0),
        (None, 0),
    ],
)
def test_retry_after_is_a_number_or_a_date(header: str | None, seconds: float):
    """Both forms of the header are read; an invalid one counts as absent."""
    assert seconds_in(header, 1000.0) == seconds


def test_retry_after_only_delays_and_at_most_a_day():
    """A receiver can neither hurry an attempt nor move it beyond a day."""
    assert retry_at(1, 0, "1", lambda: 0.0) == 5
    assert retry_at(1, 0, "600", lambda: 0.0) == 600
    assert retry_at(1, 0, "99999999", lambda: 0.0) == 24 * HOUR
