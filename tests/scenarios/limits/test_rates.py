"""Rate limits: exact windows, exact waits, and only requests that start a run count."""

from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.app.config import Settings, SettingsError
from signalbox.app.limits.rate_windows import Rate, Rates, address_of, read_rates

from tests.scenarios.limits.conftest import Among
from tests.scenarios.limits.test_quota import start, stop
from tests.support.running_app import RunningApp, error_of
from tests.support.scripted_upstream import holds, says

ANNA, BERT = {"x-user": "anna"}, {"x-user": "bert"}


class Clock:
    """A clock that tests advance."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def post(app: RunningApp, headers: dict[str, str], **body: Any) -> httpx.Response:
    """Send a question, and read the answer to its end."""
    asked = {"model": "openai/sim", "prompt": "Hi", "tools": [], **body}
    return app.client.post("/api/chat/stream", json=asked, headers=headers)


def limited(among: Among, **settings: Any) -> tuple[RunningApp, Clock]:
    """Run an app whose rate limits use a test clock."""
    app, _ = among(says("Hello."), **settings)
    clock = Clock()
    app.parts.quota.rates.clock = clock
    return app, clock


# --- over HTTP ---


def test_one_question_too_many(among: Among) -> None:
    """One request too many gives a 429 with Retry-After.

    It does not count itself, and after the wait a request succeeds.
    """
    app, clock = limited(among, signalbox_rate_limit="2/minute")
    assert post(app, ANNA).status_code == 200
    clock.now += 20.5
    assert post(app, ANNA).status_code == 200
    clock.now += 10
    for _ in range(3):
        refused = post(app, ANNA)
        assert (refused.status_code, error_of(refused)["code"]) == (429, "TOO_MANY_QUESTIONS")
        assert refused.headers["retry-after"] == "30"
    assert post(app, BERT).status_code == 200
    clock.now += 29
    assert post(app, ANNA).headers["retry-after"] == "1"
    clock.now += 1
    assert post(app, ANNA).status_code == 200


def test_what_starts_no_run_is_free(among: Among) -> None:
    """Resumes, replays, repeated keys, invalid questions and other endpoints do not count."""
    app, _ = limited(among, signalbox_rate_limit="2/hour")
    first = post(app, {**ANNA, "idempotency-key": "one"})
    run_id = first.headers["x-run-id"]
    for _ in range(5):
        assert post(app, {**ANNA, "idempotency-key": "one"}).content == first.content
        assert post(app, {**ANNA, "last-event-id": f"{run_id}:1"}).status_code == 200
        assert post(app, ANNA, tools=["unknown"]).status_code == 422
        assert app.client.get(f"/api/runs/{run_id}", headers=ANNA).status_code == 200
    assert post(app, ANNA).status_code == 200
    assert post(app, ANNA).status_code == 429


def test_what_finds_no_room_is_free(among: Among) -> None:
    """A question that is rejected for lack of a slot or of disk space does not count."""
    app, _ = among(holds, says("Hello."), signalbox_rate_limit="2/hour", signalbox_max_runs_per_user=1)
    clock = app.parts.quota.rates.clock = Clock()
    first = start(app, ANNA)
    for kept in ({}, {"conversation_id": "talk"}):
        for _ in range(3):
            refused = post(app, ANNA, **kept)
            assert (refused.status_code, error_of(refused)["code"]) == (429, "TOO_MANY_RUNS")
            clock.now += 1
    stop(app, first)
    app.parts.runs.max_active = 0
    assert [post(app, ANNA).status_code for _ in range(3)] == [503] * 3
    app.parts.runs.max_active = 1
    assert post(app, ANNA).status_code == 200
    assert error_of(post(app, ANNA))["code"] == "TOO_MANY_QUESTIONS"


def test_without_users_an_address_is_counted(among: Among) -> None:
    """Without users the client's address counts; a proxy on this machine may name it."""
    app, _ = limited(among, signalbox_rate_limit="1/hour")
    assert post(app, {}).status_code == 200
    assert post(app, {}).status_code == 429
    assert post(app, {"x-forwarded-for": "203.0.113.7"}).status_code == 200
    assert post(app, {"x-forwarded-for": "203.0.113.7"}).status_code == 429
    assert post(app, {"x-forwarded-for": "2001:db8:1:2::3"}).status_code == 200
    assert post(app, {"x-forwarded-for": "2001:db8:1:2:ffff::4"}).status_code == 429
    assert post(app, ANNA).status_code == 200


def test_by_default_no_client_is_counted(among: Among) -> None:
    """Without the setting nothing is rejected and nothing stored."""
    app, _ = limited(among)
    assert {post(app, {}).status_code for _ in range(20)} == {200}
    assert len(app.parts.quota.rates) == 0


# --- the setting ---


@pytest.mark.parametrize(
    "words",
    [
        "often",
        "60",
        "60/fortnight",
        "0/minute",
        "-1/minute",
        "1000000/day",
        "1/0seconds",
        "5/minute, 1 per 00 days",
        "1/11 years",
        f"1/{'9' * 400} years",
    ],
)
def test_a_rate_that_cannot_be_read(words: str) -> None:
    """An invalid rate is rejected at the start, with an example in the message."""
    with pytest.raises(SettingsError, match="takes"):
        Settings(_env_file=None, signalbox_rate_limit=words)  # pyright: ignore[reportCallIssue]


def test_rates_as_they_are_written() -> None:
    """Rates have the notation of the library `limits`: one or more, separated by commas or semicolons."""
    assert read_rates("60/minute") == (Rate(60, 60.0),)
    assert read_rates("10 per minute; 5/2 hours") == (Rate(10, 60.0), Rate(5, 7200.0))
    assert read_rates("1/second, 100/day") == (Rate(1, 1.0), Rate(100, 86400.0))


# --- the windows ---


@given(st.lists(st.floats(0, 30), max_size=60), st.integers(1, 5), st.integers(1, 40))
def test_no_window_ever_holds_too_many(gaps: list[float], amount: int, seconds: int) -> None:
    """For any times, no window has more requests than allowed, and no request is rejected that would fit."""
    clock, taken = Clock(), list[float]()
    rates = Rates((Rate(amount, seconds), Rate(8, 60.0)), clock)
    for gap in gaps:
        clock.now += gap
        fits = all(sum(time > clock.now - of for time in taken) < most for most, of in ((amount, seconds), (8, 60.0)))
        wait = rates.count("anna")
        assert (wait is None) == fits
        if wait is None:
            taken.append(clock.now)
        else:
            assert 0 < wait <= 60


def test_what_is_given_back_was_never_asked() -> None:
    """A refund removes exactly its time, and a client without other times is forgotten."""
    clock = Clock()
    rates = Rates((Rate(2, 60.0),), clock)
    assert rates.count("anna") is None
    clock.now += 10
    assert rates.count("anna") is None
    rates.uncount("anna", 1000.0)
    assert rates.count("anna") is None
    assert rates.count("anna") == 60.0
    for _ in range(3):
        rates.uncount("anna", 1010.0)
    assert len(rates) == 0
    assert rates.count("bert") is None


def test_the_wait_is_that_of_the_slowest_window() -> None:
    """Of several rates, the one that opens last determines the wait."""
    clock = Clock()
    rates = Rates((Rate(1, 1.0), Rate(2, 100.0)), clock)
    assert rates.count("anna") is None
    assert rates.count("anna") == 1.0
    clock.now += 1
    assert rates.count("anna") is None
    assert rates.count("anna") == 99.0
    clock.now += 99
    assert rates.count("anna") is None


def test_askers_are_forgotten() -> None:
    """Clients that were idle for the longest window use no memory, and neither do too many at once."""
    clock = Clock()
    rates = Rates((Rate(2, 60.0),), clock, most_clients=1_000)
    for number in range(5_000):
        rates.count(f"address {number}")
    assert len(rates) == 1_000
    clock.now += 60
    rates.count("anna")
    assert len(rates) == 1
    for _ in range(10):
        rates.count("anna")
    assert len(rates._times["anna"]) == 2


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("192.0.2.1", "address 192.0.2.1"),
        ("::ffff:192.0.2.1", "address 192.0.2.1"),
        ("2001:db8:1:2:3::4", "address 2001:db8:1:2::"),
        ("fe80::1%eth0", "address fe80::"),
        (None, "address"),
        ("", "address"),
    ],
)
def test_names_of_addresses(host: str | None, name: str) -> None:
    """An IPv6 network is one client; all spellings of an IPv4 address are the same client."""
    assert address_of(host) == name
