"""How large a run's journal may become: the answer so far is kept."""

from contextlib import suppress

from tests.support.fixtures import Behind
from tests.support.frames import checked
from tests.support.upstream import Exchange, says

KB = 1024


async def floods(exchange: Exchange) -> None:
    """Say kilobyte after kilobyte until the reader has gone."""
    await exchange.head()
    with suppress(ConnectionError):
        while True:
            await exchange.say("x" * KB)


def test_a_run_that_grows_without_end_is_ended(behind: Behind) -> None:
    """It has its answer so far, the upstream is left, and its replay is what was shown."""
    app, _ = behind(floods, settings={"signalbox_max_run_mb": 0.25})
    response = app.post(prompt="Go", tools=[])
    heard = checked(response.content)
    assert (heard.done["status"], heard.done["code"]) == ("interrupted", "RUN_TOO_LARGE")
    assert heard.warnings == ["RUN_TOO_LARGE"]
    assert len(heard.text) >= 0.2 * KB * KB
    run_id = response.headers["x-run-id"]
    assert app.client.get(f"/api/runs/{run_id}/events").content == response.content
    assert app.client.get(f"/api/runs/{run_id}").json()["code"] == "RUN_TOO_LARGE"


def test_a_large_answer_within_the_limit_is_whole(behind: Behind) -> None:
    """By default 64 MB of events are more than any answer."""
    app, _ = behind(says(*["x" * 64 * KB] * 64))
    heard = app.ask("Go", tools=[])
    assert (heard.done["status"], len(heard.text)) == ("complete", 4 * KB * KB)
