"""A20: unknown or contradicting stop reasons of a provider, through the whole app, streamed and as one body."""

import pytest
from signalbox.core.messages import JsonObject

from tests.scenarios.quirks.assertions import calls_with, speaks
from tests.scenarios.quirks.sim_runs import Asker, calling, scripted
from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp

HEADER = {"signalbox_allow_loop_header": True}
FAMILIES = pytest.mark.parametrize("family", ["openai", "anthropic", "google"])
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])
WITHHELD, PAUSED, UNKNOWN = (
    ("content_filter", "CONTENT_FILTER"),
    ("interrupted", "TURN_PAUSED"),
    ("interrupted", "STOP_UNKNOWN"),
)


@FAMILIES
@pytest.mark.parametrize(
    ("shape", "status"),
    [("refusal", WITHHELD), ("pause", PAUSED), ("unknown", UNKNOWN), ("word", UNKNOWN)],
)
def test_a20_a_stopped_step_changes_nothing(ask_sim: Asker, family: str, shape: str, status: tuple[str, str]) -> None:
    """The note is not saved, the run is not complete, and an announced call has a result."""
    observed = ask_sim(f"{family}/sim-quirk-a20-{shape}", "Please keep this.", tools=["save_note"])
    assert observed.status == status
    assert observed.heard.of("tool_executing") == []
    assert observed.heard.result_codes() == ([] if status == WITHHELD else ["STEP_FAILED"])
    assert observed.heard.warnings == [status[1]]
    assert len(observed.requests) == 1


@FAMILIES
@pytest.mark.parametrize(("shape", "status"), [("refusal", WITHHELD), ("pause", PAUSED), ("unknown", UNKNOWN)])
def test_a20_a_stopped_answer_is_not_complete(ask_sim: Asker, family: str, shape: str, status: tuple[str, str]) -> None:
    """The text stays, and the run reports how it ended."""
    observed = ask_sim(f"{family}/sim-quirk-a20-text-{shape}")
    assert observed.heard.text
    assert observed.status == status


def test_a20_an_unknown_reason_is_named(ask_sim: Asker) -> None:
    """The message quotes the provider's stop reason."""
    observed = ask_sim("openai/sim-quirk-a20-unknown", tools=["save_note"])
    assert "brand_new_reason" in observed.heard.done["error"]


@LOOPS
@pytest.mark.parametrize("native", ["refusal", "pause_turn", "brand_new_reason", {"type": "refusal"}, 0])
def test_a20_the_chat_goes_on_behind_a_stopped_step(start_app: StartApp, loop: str, native: object) -> None:
    """The next question is answered, with a history that the provider accepts."""
    rung: list[JsonObject] = []
    tool = make_tool("bell", lambda arguments, _: rung.append(arguments) or "rung")
    script = calls_with("bell", '{"n":1}', native_finish_reason=native)
    app, upstream = start_app(script, speaks("In words."), extra_tools=[tool], settings=HEADER)
    observed = scripted(app, upstream.asked, loop, tools=["bell"])
    assert observed.status[0] != "complete"
    assert rung == []
    again = scripted(app, upstream.asked, loop, tools=["bell"])
    assert (again.status, again.heard.text) == (("complete", None), "In words.")
    assert calling(again.last) == []


@pytest.mark.parametrize("word", ["refusal", "content_filter", "pause_turn"])
def test_a20_a_later_good_word_takes_nothing_back(start_app: StartApp, word: str) -> None:
    """If a proxy adds `tool_calls` after a provider's refusal, the call is still not executed."""
    rung: list[JsonObject] = []
    tool = make_tool("bell", lambda arguments, _: rung.append(arguments) or "rung")
    first = {"index": 0, "delta": {}, "finish_reason": word}
    app, upstream = start_app(calls_with("bell", '{"n":1}', before=first), extra_tools=[tool], settings=HEADER)
    observed = scripted(app, upstream.asked, "v2", tools=["bell"])
    assert observed.status[0] != "complete"
    assert rung == []
