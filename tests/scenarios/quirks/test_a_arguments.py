"""A6-A10: arguments that are doubled, cut, broken, blank or wrapped, through the whole app."""

import pytest

from tests.scenarios.quirks.assertions import (
    ASKED,
    SEARCH,
    answered,
    called,
    calls_with,
    ran,
    results,
    sent_back,
    speaks,
)
from tests.scenarios.quirks.sim_runs import Asker, scripted
from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import DONE, Script, call_chunk, chunk, says, sends

FAMILIES = pytest.mark.parametrize("family", ["openai", "google"])
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])
HEADER = {"signalbox_allow_loop_header": True}
RIGHT = '{"query":"x"}'


@FAMILIES
@pytest.mark.parametrize("shape", ["twice", "tail", "leading"])
def test_a06_one_call_in_too_many_objects(ask_sim: Asker, family: str, shape: str) -> None:
    """The same object twice, a second object that is cut, or an empty one before it: one call."""
    ran(ask_sim(f"{family}/sim-quirk-a06-{shape}", ASKED), SEARCH)


@FAMILIES
def test_a06_two_objects_are_two_calls(ask_sim: Asker, family: str) -> None:
    """Several different objects in one call are several calls of that tool."""
    other = ("search_web", {"query": "tool loop Signalbox work example"})
    ran(ask_sim(f"{family}/sim-quirk-a06-split", ASKED), SEARCH, other)


@FAMILIES
@pytest.mark.parametrize(
    ("shape", "code"),
    [("a07", "ARGUMENTS_CUT"), ("a07-length", "ARGUMENTS_CUT"), ("a07-tokens", "ARGUMENTS_CUT")],
)
def test_a07_cut_arguments(ask_sim: Asker, family: str, shape: str, code: str) -> None:
    """A call with cut arguments is not executed or completed by guessing; the model is asked for a shorter one."""
    observed = ask_sim(f"{family}/sim-quirk-{shape}", ASKED)
    assert called(observed) == [("search_web", None)]
    assert observed.heard.result_codes() == [code]
    assert observed.heard.of("tool_executing") == []
    answered(observed)
    assert sent_back(observed.last) == [("search_web", {})]
    assert "make a shorter call" in results(observed.last)
    assert "tool loop Signalbox wo" in observed.heard.calls[0]["arguments"]


@FAMILIES
def test_a07_a_cut_that_happens_to_parse(ask_sim: Asker, family: str) -> None:
    """`{}` with finish reason `length` is incomplete, and not executed."""
    observed = ask_sim(f"{family}/sim-quirk-a07-parses", ASKED)
    assert called(observed) == [("search_web", {})]
    assert observed.heard.result_codes() in (["STEP_FAILED"], ["ARGUMENTS_CUT"])
    assert observed.heard.of("tool_executing") == []
    answered(observed)
    assert "cut" in results(observed.last)


@pytest.mark.parametrize(("finish", "native"), [("length", "length"), ("tool_calls", "max_output_tokens")])
def test_a07_a_cut_step_runs_nothing(start_app: StartApp, finish: str, native: str) -> None:
    """If the provider reports that a step was cut, none of its calls is executed, not even a complete one."""
    rung: list[object] = []
    tool = make_tool("bell", lambda arguments, _: rung.append(arguments) or "rung")
    choice = {"index": 0, "delta": {}, "finish_reason": finish, "native_finish_reason": native}
    app, _ = start_app(
        sends(call_chunk("bell", '{"n":1}'), chunk({}, choices=[choice]) + DONE), says("Done."), extra_tools=[tool]
    )
    heard = app.ask(tools=["bell"])
    assert heard.result_codes() == ["STEP_FAILED"]
    assert rung == []
    assert heard.done["status"] == "complete"


@pytest.mark.parametrize("family", ["anthropic", "mistralai"])
@pytest.mark.parametrize("shape", ["a08", "a07", "a10-garbage", "a10-escaped", "a10-quote", "a10-brace", "a06-tail"])
def test_a08_history_holds_canonical_json(ask_sim: Asker, family: str, shape: str) -> None:
    """The history contains arguments as canonical JSON objects, whatever the model wrote."""
    observed = ask_sim(f"{family}/sim-quirk-{shape}", ASKED)
    answered(observed)
    [(name, arguments)] = sent_back(observed.last)
    assert name == "search_web"
    assert arguments in ({}, SEARCH[1])
    given = observed.heard.arguments[0]
    assert arguments == (given if isinstance(given, dict) else {})
    if not arguments:
        assert '"code":' in results(observed.last)


@pytest.mark.parametrize("family", ["anthropic", "openai", "google"])
def test_a09_blank_arguments_of_a_tool_that_needs_none(ask_sim: Asker, family: str) -> None:
    """Blank arguments become an empty object, also in the history."""
    ran(ask_sim(f"{family}/sim-quirk-a09", ASKED), ("get_current_time", {}))


@pytest.mark.parametrize("family", ["anthropic", "openai", "google"])
def test_a09_blank_arguments_of_a_tool_that_needs_some(ask_sim: Asker, family: str) -> None:
    """The tool is not executed; the model is told which field is missing."""
    observed = ask_sim(f"{family}/sim-quirk-a09-required", ASKED)
    assert called(observed) == [("search_web", {})]
    assert observed.heard.result_codes() == ["INVALID_ARGUMENTS"]
    assert observed.heard.of("tool_executing") == []
    answered(observed)
    assert "query: is required" in results(observed.last)


@FAMILIES
@pytest.mark.parametrize("shape", ["double", "brace", "prose"])
def test_a10_what_can_be_repaired(ask_sim: Asker, family: str, shape: str) -> None:
    """A string around the JSON, an extra brace, or a sentence after the object is repaired."""
    ran(ask_sim(f"{family}/sim-quirk-a10-{shape}", ASKED), SEARCH)


@FAMILIES
@pytest.mark.parametrize("shape", ["escaped", "newline", "quote", "garbage"])
def test_a10_what_cannot(ask_sim: Asker, family: str, shape: str) -> None:
    """Other broken arguments give the model an error, never a call with `{}`; the client can see the original text."""
    observed = ask_sim(f"{family}/sim-quirk-a10-{shape}", ASKED)
    assert observed.heard.result_codes() == ["INVALID_ARGUMENTS"]
    assert observed.heard.of("tool_executing") == []
    assert "tool loop Signalbox work" in observed.heard.calls[0]["arguments"]
    answered(observed)
    assert "not a JSON object" in results(observed.last)


@LOOPS
@pytest.mark.parametrize(
    "arguments",
    ['{"q":' + "[" * 50_000, '{"q":' + "[" * 5_000 + "]" * 5_000 + "}", '{"q":NaN}', '{"q":1e999}', '["q"]', "7"],
    ids=["open brackets", "brackets", "NaN", "1e999", "a list", "a number"],
)
def test_a10_arguments_that_no_frame_could_hold(start_app: StartApp, loop: str, arguments: str) -> None:
    """Endless brackets, invalid numbers and values that are no object give an error and no crash."""
    rung: list[object] = []
    tool = make_tool("bell", lambda given, _: rung.append(given) or "rung")
    steps: list[Script] = [calls_with("bell", arguments), speaks("Done.")]
    app, upstream = start_app(*steps, extra_tools=[tool], settings=HEADER)
    observed = scripted(app, upstream.asked, loop, tools=["bell"])
    assert observed.status == ("complete", None)
    assert observed.heard.result_codes()[0] in ("INVALID_ARGUMENTS", "ARGUMENTS_CUT")
    assert rung == []
    assert sent_back(observed.last) == [("bell", {})]
