"""A12-A14: wrong finish reasons, malformed calls and unknown tools, through the whole app."""

import pytest

from tests.scenarios.quirks.assertions import (
    ASKED,
    SEARCH,
    SEARCHES,
    answered,
    called,
    calls_with,
    instructions,
    ran,
    results,
    sent_back,
    speaks,
)
from tests.scenarios.quirks.sim_runs import Asker, calling, scripted
from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp

HEADER = {"signalbox_allow_loop_header": True}
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])
FAMILIES = pytest.mark.parametrize("family", ["openai", "google", "x-ai"])
TOOLS = "calculate, get_current_time, read_url, save_note, search_web"


@FAMILIES
@pytest.mark.parametrize("shape", ["a12", "a12-blank", "a12-overwritten", "a12-null"])
def test_a12_the_finish_reason_lies(ask_sim: Asker, family: str, shape: str) -> None:
    """Calls are executed whatever the finish reason says; data after the finish reason still counts."""
    observed = ask_sim(f"{family}/sim-quirk-{shape}", ASKED)
    ran(observed, SEARCH)
    assert observed.heard.done["usage"]["output"] > 0
    assert "cost_estimated" not in observed.heard.done


@pytest.mark.parametrize("shape", ["a13", "a13-empty", "a13-call", "a13-unexpected", "a13-error"])
def test_a13_a_malformed_call_is_made_again(ask_sim: Asker, shape: str) -> None:
    """Nothing of that step is executed or stored; the model is asked once more and told what was wrong."""
    observed = ask_sim(f"google/sim-quirk-{shape}")
    answered(observed)
    assert observed.heard.result_codes()[-1] is None
    assert ["could not be read" in instructions(request) for request in observed.requests] == [False, True, False]
    assert calling(observed.requests[1]) == []
    assert observed.requests[1]["messages"][-1]["role"] == "user"
    [(name, _)] = sent_back(observed.last)
    assert name == "search_web"
    assert "default_api" not in str(observed.last["messages"])


@pytest.mark.parametrize("shape", ["a13", "a13-empty", "a13-call", "a13-unexpected"])
def test_a13_malformed_again(ask_sim: Asker, shape: str) -> None:
    """The second malformed call is an error with its own code, and is not retried."""
    observed = ask_sim(f"google/sim-quirk-{shape}-always")
    assert observed.status == ("error", "MALFORMED_CALL")
    assert observed.heard.warnings == ["MALFORMED_CALL"]
    assert len(observed.requests) == 2
    assert calling(observed.last) == []


@LOOPS
def test_a13_a_malformed_step_runs_nothing(start_app: StartApp, loop: str) -> None:
    """A complete call in a step that the provider reports as malformed is not executed."""
    rung: list[object] = []
    tool = make_tool("bell", lambda arguments, _: rung.append(arguments) or "rung")
    script = calls_with("bell", '{"n":1}', finish="stop", native_finish_reason="MALFORMED_FUNCTION_CALL")
    app, upstream = start_app(script, speaks("In words."), extra_tools=[tool], settings=HEADER)
    observed = scripted(app, upstream.asked, loop, tools=["bell"])
    assert rung == []
    assert called(observed) == []
    assert (observed.status, observed.heard.text) == (("complete", None), "In words.")


@FAMILIES
@pytest.mark.parametrize("shape", ["namespace", "functions"])
def test_a14_a_namespace_before_the_name(ask_sim: Asker, family: str, shape: str) -> None:
    """`default_api.` and `functions.` are removed, also in the history."""
    ran(ask_sim(f"{family}/sim-quirk-a14-{shape}", ASKED), SEARCH)


@FAMILIES
def test_a14_an_invented_tool(ask_sim: Asker, family: str) -> None:
    """An unknown tool is not executed; the model is told which tools exist, and uses one."""
    observed = ask_sim(f"{family}/sim-quirk-a14-invented", ASKED)
    assert [name for name, _ in called(observed)] == ["google_search", "search_web"]
    assert observed.heard.result_codes() == ["UNKNOWN_TOOL", None]
    assert [event["name"] for event in observed.heard.of("tool_executing")] == ["search_web"]
    answered(observed)
    assert f"There is no tool 'google_search'. The tools are: {TOOLS}." in results(observed.requests[1])
    assert [name for name, _ in sent_back(observed.last)] == ["google_search", "search_web"]


@FAMILIES
def test_a14_the_parallel_tool(ask_sim: Asker, family: str) -> None:
    """`multi_tool_use.parallel` is unknown: nothing inside it is executed, and later requests stay valid."""
    observed = ask_sim(f"{family}/sim-quirk-a14-parallel", ASKED)
    made = {"tool_uses": [{"recipient_name": f"functions.{name}", "parameters": given} for name, given in SEARCHES]}
    assert called(observed) == [("multi_tool_use.parallel", made)]
    assert observed.heard.result_codes() == ["UNKNOWN_TOOL"]
    assert observed.heard.of("tool_executing") == []
    answered(observed)
    assert f"The tools are: {TOOLS}." in results(observed.last)


@FAMILIES
def test_a14_inventing_has_an_end(ask_sim: Asker, family: str) -> None:
    """After two steps with different unknown tools, the model must answer."""
    observed = ask_sim(f"{family}/sim-quirk-a14-endless", ASKED)
    assert [name for name, _ in called(observed)] == ["lookup_a", "lookup_b"]
    assert observed.heard.result_codes() == ["UNKNOWN_TOOL", "UNKNOWN_TOOL"]
    answered(observed)
    assert [request.get("tool_choice") for request in observed.requests] == [None, None, "none"]
