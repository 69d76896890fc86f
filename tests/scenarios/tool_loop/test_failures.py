"""Scenarios 12 to 19: error statuses, errors in mid-stream, cut connections, errors inside a 200."""

import json
from typing import Any

import pytest

from tests.scenarios.tool_loop.scenario import Scenario, Scenarios
from tests.scenarios.tool_loop.script import Said, fails, says
from tests.support.scripted_upstream import Exchange
from tests.support.stream_reader import ParsedStream


def assert_told(heard: ParsedStream, status: str, code: str) -> None:
    """Check for one warning with the code, one `done` with the same, and a valid stream."""
    assert (heard.done["status"], heard.done["code"]) == (status, code)
    assert heard.warnings == [code]
    assert {event["type"] for event in heard.events} <= {"reasoning", "content", "warning", "done"}
    assert all("ts" in event for event in heard.events if event["type"] != "content")


def asked_alike(stage: Scenario) -> int:
    """Return the number of upstream requests; check that all are equal."""
    assert all(body == stage.bodies[0] for body in stage.bodies)
    return len(stage.bodies)


@pytest.mark.parametrize(
    "tools", [pytest.param([], id="12_no_tools"), pytest.param(["search_web"], id="13_with_tools")]
)
def test_12_13_http_429_at_the_start(scenario: Scenarios, tools: list[str], waits: list[float]) -> None:
    """Retried with the requested delay, three requests in total; then reported with code and time, and `done`."""
    stage = scenario(fails(429, "Slow down.", retry_after="2"))
    heard = stage.ask(tools=tools)
    assert_told(heard, "error", "RATE_LIMIT")
    assert (heard.done["retryable"], heard.done["retry_after"]) == (True, 2)
    assert (asked_alike(stage), waits) == (3, [2.0, 2.0])


@pytest.mark.parametrize(
    "tools", [pytest.param([], id="12_no_tools"), pytest.param(["search_web"], id="13_with_tools")]
)
def test_12_13_http_429_with_a_long_wait(scenario: Scenarios, tools: list[str]) -> None:
    """A delay of a minute is reported immediately instead of waited for."""
    stage = scenario(fails(429, "Slow down.", retry_after="60"))
    heard = stage.ask(tools=tools)
    assert_told(heard, "error", "RATE_LIMIT")
    assert (heard.done["retry_after"], len(stage.bodies)) == (60, 1)


def test_14_error_in_mid_stream_without_tools(scenario: Scenarios) -> None:
    """The text stays and the error is reported; after visible text there is no retry."""
    stage = scenario(says(Said(text=("Half an ", "answer"), breaks="error")))
    heard = stage.ask(tools=[])
    assert heard.text == "Half an answer"
    assert_told(heard, "error", "UPSTREAM_ERROR")
    assert len(stage.bodies) == 1


def test_15_error_in_mid_stream_with_tools(scenario: Scenarios) -> None:
    """The error is reported with the text so far.

    V2 has shown text and may not retry. Legacy has shown nothing of the failed body, so it retries the same request.
    """
    stage = scenario(says(Said(text=("Half an ", "answer"), breaks="error")))
    heard = stage.ask()
    assert heard.text == "Half an answer"
    assert_told(heard, "error", "UPSTREAM_ERROR")
    assert asked_alike(stage) == (3 if stage.loop == "legacy" else 1)


def test_16_connection_drops_without_tools(scenario: Scenarios) -> None:
    """A cut connection is never a success: the text stays, the run is interrupted."""
    stage = scenario(says(Said(text=("Half an ", "answer"), breaks="cut")))
    heard = stage.ask(tools=[])
    assert heard.text == "Half an answer"
    assert_told(heard, "interrupted", "STREAM_CUT")
    assert heard.done["retryable"] is True


def test_17_connection_drops_with_tools(scenario: Scenarios) -> None:
    """The run is interrupted; V2 keeps the text, legacy has none and retries."""
    stage = scenario(says(Said(text=("Half an ", "answer"), breaks="cut")))
    heard = stage.ask()
    assert_told(heard, "interrupted", "STREAM_CUT")
    assert heard.text == ("" if stage.loop == "legacy" else "Half an answer")
    assert asked_alike(stage) == (3 if stage.loop == "legacy" else 1)


@pytest.mark.parametrize(
    "tools", [pytest.param([], id="18_no_tools"), pytest.param(["search_web"], id="19_with_tools")]
)
@pytest.mark.parametrize(
    ("status", "code", "times"), [(402, "UPSTREAM_CREDITS", 1), (429, "RATE_LIMIT", 3), (502, "UPSTREAM_ERROR", 3)]
)
def test_18_19_an_error_in_the_body_of_a_200(
    scenario: Scenarios, tools: list[str], status: int, code: str, times: int
) -> None:
    """It is handled like its status, and retried only if that can help."""
    body: dict[str, Any] = {"error": {"code": status, "message": "Provider returned error"}}

    async def script(exchange: Exchange) -> None:
        await exchange.whole(200, json.dumps(body).encode())

    stage = scenario(script)
    heard = stage.ask(tools=tools)
    assert_told(heard, "error", code)
    assert heard.text == ""
    assert asked_alike(stage) == times
