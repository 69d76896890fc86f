"""Every fault of Gemini's API ends a run with an honest status and code, on both loops."""

import pytest

from tests.scenarios.native.gemini.gemini_runs import GeminiRuns
from tests.scenarios.native.native_runs import KEY

V2 = pytest.mark.parametrize("gemini", ["v2"], indirect=True)
LEGACY = pytest.mark.parametrize("gemini", ["legacy"], indirect=True)
COMPLETE = ("complete", None)


@pytest.mark.parametrize(
    ("status", "code", "requests"),
    [
        (400, "UPSTREAM_REJECTED", 1),
        (401, "UPSTREAM_AUTH", 1),
        (402, "UPSTREAM_CREDITS", 1),
        (403, "UPSTREAM_FORBIDDEN", 1),
        (404, "UPSTREAM_NOT_FOUND", 1),
        (408, "UPSTREAM_TIMEOUT", 3),
        (413, "UPSTREAM_TOO_LARGE", 1),
        (422, "UPSTREAM_REJECTED", 1),
        (429, "RATE_LIMIT", 3),
        (500, "UPSTREAM_ERROR", 3),
        (502, "UPSTREAM_ERROR", 3),
        (503, "UPSTREAM_OVERLOADED", 3),
        (529, "UPSTREAM_OVERLOADED", 3),
    ],
)
def test_error_statuses(gemini: GeminiRuns, status: int, code: str, requests: int) -> None:
    """A rejection has its code; only temporary errors are sent again."""
    heard, sent = gemini(f"sim-error-{status}")
    assert (heard.done["status"], heard.done["code"], len(sent)) == ("error", code, requests)
    assert heard.types == ["warning", "done"]
    assert KEY.encode() not in heard.raw
    assert b"<html" not in heard.raw


@pytest.mark.parametrize(
    ("model", "ending"),
    [
        ("sim-json-error", ("error", "RATE_LIMIT")),
        ("sim-cut-tool", ("interrupted", "STREAM_CUT")),
        ("sim-done-only", ("interrupted", "STREAM_CUT")),
        ("sim-empty", ("error", "EMPTY_ANSWER")),
        ("sim-reasoning-only", ("error", "EMPTY_ANSWER")),
        ("sim-length-empty", ("length", "REASONING_LENGTH")),
        ("sim-length-tool", ("length", "REASONING_LENGTH")),
        ("sim-refusal", ("content_filter", "CONTENT_FILTER")),
        ("sim-quirk-a13-unexpected-always", ("error", "MALFORMED_CALL")),
    ],
)
def test_runs_without_a_text(gemini: GeminiRuns, model: str, ending: tuple[str, str]) -> None:
    """No answer is no complete run: the last event before `done` is a warning with the code."""
    heard, _ = gemini(model)
    assert (heard.done["status"], heard.done["code"]) == ending
    assert heard.warnings[-1:] == [ending[1]]
    assert heard.text == ""


@V2
@pytest.mark.parametrize(
    ("model", "ending"),
    [
        ("sim-midstream-error", ("error", "UPSTREAM_OVERLOADED")),
        ("sim-cut", ("interrupted", "STREAM_CUT")),
        ("sim-eof", ("interrupted", "STREAM_CUT")),
        ("sim-stall", ("interrupted", "UPSTREAM_STALLED")),
    ],
)
def test_broken_streams_keep_their_text(gemini: GeminiRuns, model: str, ending: tuple[str, str]) -> None:
    """The text so far stays, and the request is not sent again."""
    heard, sent = gemini(model)
    assert (heard.done["status"], heard.done["code"], len(sent)) == (*ending, 1)
    assert heard.text.startswith("This is the beginning of an answer")


@LEGACY
@pytest.mark.parametrize(
    ("model", "ending", "requests"),
    [
        ("sim-midstream-error", ("error", "RATE_LIMIT"), 3),
        ("sim-cut", ("interrupted", "STREAM_CUT"), 3),
        ("sim-eof", ("interrupted", "STREAM_CUT"), 3),
        ("sim-stall", ("interrupted", "UPSTREAM_STALLED"), 2),
        ("sim-malformed", ("error", "UPSTREAM_PROTOCOL"), 3),
    ],
)
def test_broken_whole_answers(gemini: GeminiRuns, model: str, ending: tuple[str, str], requests: int) -> None:
    """The legacy loop requests steps with tools whole: nothing of a broken answer is shown."""
    heard, sent = gemini(model)
    assert (heard.done["status"], heard.done["code"], len(sent)) == (*ending, requests)
    assert heard.warnings[-1:] == [ending[1]]


@pytest.mark.parametrize("model", ["sim-length", "sim-filter"])
def test_answers_that_stop_early(gemini: GeminiRuns, model: str) -> None:
    """A limit or a filter ends the run with the text so far."""
    heard, sent = gemini(model)
    kind = model.removeprefix("sim-")
    assert heard.done["status"] == {"filter": "content_filter"}.get(kind, kind)
    assert heard.text.startswith("This is the beginning of an answer")
    assert len(sent) == 1


@pytest.mark.parametrize(
    ("model", "results", "requests"),
    [
        ("sim-no-done", [None], 2),
        ("sim-drip", [None], 2),
        ("sim-late-stop", [None], 2),
        ("sim-searches-3", [None] * 3, 2),
        ("sim-duplicate", [None] * 3, 2),
        ("sim-parallel", [None] * 3, 2),
        ("sim-bad-args", ["INVALID_ARGUMENTS"] * 2, 2),
        ("sim-unknown-tool", ["UNKNOWN_TOOL"], 2),
        ("sim-stubborn", [None] * 6 + ["TOOL_CLAMP"], 9),
        ("sim-silent-finalize", [None] * 6 + ["TOOL_CLAMP"], 9),
        ("sim-quirk-a13-unexpected", [None], 3),
    ],
)
def test_runs_that_complete(gemini: GeminiRuns, model: str, results: list[str | None], requests: int) -> None:
    """These models need patience, but each call has one result, and the run has a text."""
    heard, sent = gemini(model, f"Search for the tool loop ({model}, {gemini.loop})")
    assert (heard.done["status"], heard.done.get("code")) == COMPLETE
    assert (heard.result_codes(), len(sent)) == (results, requests)
    assert heard.text


def test_equal_ids(gemini: GeminiRuns) -> None:
    """Calls with one id in one step and in several steps have one result each."""
    heard, _ = gemini("sim-same-id")
    assert (heard.done["status"], heard.done.get("code")) == COMPLETE
    assert len({call["id"] for call in heard.calls}) == len(heard.of("tool_result")) == len(heard.calls)


@V2
def test_a_frame_that_is_not_json(gemini: GeminiRuns) -> None:
    """It is left out, with a warning."""
    heard, _ = gemini("sim-malformed")
    assert (heard.done["status"], heard.warnings) == ("complete", ["FRAME_UNREADABLE"])
