"""A11: calls that leak into the text, in the markup of eight families, through the whole app."""

import pytest

from tests.scenarios.quirks.assertions import ASKED, MARKS, SEARCH, answered, called, instructions, ran, speaks
from tests.scenarios.quirks.sim_runs import Asker, said_by, scripted
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import call_chunk, calls_then, chunk, says

HEADER = {"signalbox_allow_loop_header": True}
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])
DIALECTS = {
    "dsml": "deepseek",
    "dsml-v32": "deepseek",
    "deepseek": "deepseek",
    "kimi": "moonshotai",
    "kimi-k3": "moonshotai",
    "glm": "openai",
    "hermes": "qwen",
    "mimo": "qwen",
    "anthropic": "anthropic",
    "mistral": "mistralai",
    "mistral-args": "mistralai",
}
EACH = pytest.mark.parametrize(("dialect", "family"), DIALECTS.items())
LEAKED = '<tool_call>\n{"name": "search_web", "arguments": {"query": "x"}}\n</tool_call>'


@EACH
def test_a11_a_call_as_text(ask_sim: Asker, dialect: str, family: str) -> None:
    """A leaked call is executed like any other, and its markup is neither shown nor sent back."""
    observed = ask_sim(f"{family}/sim-quirk-a11-{dialect}", ASKED)
    ran(observed, SEARCH)
    assert observed.heard.text.startswith("Here is what I found")
    assert not MARKS.search("".join(str(said["content"] or "") for said in said_by(observed.last, "assistant")))


@EACH
def test_a11_a_call_as_text_letter_by_letter(ask_sim: Asker, dialect: str, family: str) -> None:
    """The same after a sentence, one letter per frame: the sentence is shown, the markup never."""
    observed = ask_sim(f"{family}/sim-quirk-a11-{dialect}-split", ASKED)
    ran(observed, SEARCH)
    sentence, _, rest = observed.heard.text.partition("\n\n")
    assert sentence == "Let me check that."
    assert rest.strip().startswith("Here is what I found")
    said = said_by(observed.last, "assistant")[-1]
    assert said["content"].strip() == "Let me check that."


@pytest.mark.parametrize("family", ["openai", "deepseek"])
def test_a11_two_calls_as_text(ask_sim: Asker, family: str) -> None:
    """Two leaked calls are two calls."""
    ran(ask_sim(f"{family}/sim-quirk-a11-two", ASKED), SEARCH, ("search_web", {"query": "simulator"}))


@pytest.mark.parametrize("family", ["openai", "qwen"])
def test_a11_beside_the_real_call(ask_sim: Asker, family: str) -> None:
    """A leaked copy of a proper call is dropped: one call, no markup."""
    observed = ask_sim(f"{family}/sim-quirk-a11-duplicate", ASKED)
    ran(observed, SEARCH)
    assert observed.heard.text.startswith("Let me check that.")
    assert "tool_call" not in observed.heard.text


def test_a11_another_call_beside_the_real_one(start_app: StartApp) -> None:
    """The proper call is executed, and another call in the text is not."""
    leaked = LEAKED.replace('"x"', '"leaked"')
    step = calls_then(chunk({"content": leaked}), call_chunk("search_web", '{"query":"real"}'))
    app, _ = start_app(step, says("Done."))
    heard = app.ask(tools=["search_web"])
    assert heard.arguments == [{"query": "real"}]
    assert heard.text.strip() == "Done."


@pytest.mark.parametrize("shape", ["fence", "fence-split"])
def test_a11_inside_a_code_fence(ask_sim: Asker, shape: str) -> None:
    """The same text in a code fence is part of the answer: it is shown, and nothing is executed."""
    observed = ask_sim(f"openai/sim-quirk-a11-{shape}", ASKED)
    assert called(observed) == []
    answered(observed)
    assert observed.heard.text.startswith("A leaked call looks like this:\n\n```xml\n<tool_call>\n{")
    assert "<｜DSML｜invoke name=" in observed.heard.text
    assert observed.heard.text.endswith("</｜DSML｜tool_calls>\n```\n\nNone of it was executed.")
    assert len(observed.requests) == 1


@pytest.mark.parametrize("shape", ["unclosed", "unknown-always"])
def test_a11_markup_that_names_no_call(ask_sim: Asker, shape: str) -> None:
    """Unreadable markup or an unknown tool is hidden, and the model is asked once more; then it must answer."""
    observed = ask_sim(f"deepseek/sim-quirk-a11-{shape}")
    assert called(observed) == []
    answered(observed)
    assert not MARKS.search(observed.heard.text)
    assert [request.get("tool_choice") for request in observed.requests] == [None, None, "none"]
    assert "could not be read" not in instructions(observed.requests[0])
    assert "could not be read" in instructions(observed.requests[1])


def test_a11_the_second_attempt_is_sound(ask_sim: Asker) -> None:
    """If the second attempt is a proper call, the correction is removed from later requests."""
    observed = ask_sim("deepseek/sim-quirk-a11-unknown")
    assert [name for name, _ in called(observed)] == ["search_web"]
    assert observed.heard.result_codes() == [None]
    answered(observed)
    assert not MARKS.search(observed.heard.text)
    assert ["could not be read" in instructions(request) for request in observed.requests] == [False, True, False]


def test_a11_inside_the_reasoning(ask_sim: Asker) -> None:
    """A call in the reasoning is not executed; the model is asked for its answer."""
    observed = ask_sim("openai/sim-quirk-a11-reasoning", ASKED)
    assert called(observed) == []
    answered(observed)
    assert observed.requests[-1]["tool_choice"] == "none"
    assert not MARKS.search(observed.heard.text)


@pytest.mark.parametrize(("shape", "said"), [("finalize", "Here is what I know so far."), ("finalize-bare", "")])
def test_a11_in_finalize(ask_sim: Asker, shape: str, said: str) -> None:
    """In the final step a leaked call is hidden and never executed; without text a fixed sentence follows."""
    observed = ask_sim(f"openai/sim-quirk-a11-{shape}", ASKED, max_steps=3)
    assert len(observed.heard.calls) == 2
    assert observed.heard.result_codes() == [None, None]
    assert observed.status == ("complete", None)
    assert observed.last["tool_choice"] == "none"
    assert not MARKS.search(observed.heard.text)
    if said:
        assert observed.heard.text.strip() == said
    else:
        assert observed.heard.warnings == ["MAX_STEPS", "FINAL_EMPTY"]
        assert observed.heard.text.startswith("The model gave no answer")


@LOOPS
def test_a11_where_no_tools_were_offered(start_app: StartApp, loop: str) -> None:
    """Without tools, the text is shown unchanged."""
    app, upstream = start_app(speaks(f"So: {LEAKED}"), settings=HEADER)
    observed = scripted(app, upstream.asked, loop, tools=[])
    assert observed.heard.text == f"So: {LEAKED}"
    assert called(observed) == []
    assert len(observed.requests) == 1


@LOOPS
def test_a11_a_tool_that_was_not_offered_here(start_app: StartApp, loop: str) -> None:
    """A leaked call of a tool that this request does not offer is not executed."""
    app, upstream = start_app(speaks(LEAKED), speaks("Then in words."), settings=HEADER)
    observed = scripted(app, upstream.asked, loop, tools=["calculate"])
    assert called(observed) == []
    assert observed.heard.text == "Then in words."
    assert observed.status == ("complete", None)


@LOOPS
@pytest.mark.parametrize("text", ["a < b and b > c", "if x <to y", "[TOOL", "an <i>html</i> tag", "1 <| 2"])
def test_a11_ordinary_text_stays(start_app: StartApp, loop: str, text: str) -> None:
    """Text that only begins like markup is shown in full."""
    app, upstream = start_app(speaks(text), settings=HEADER)
    observed = scripted(app, upstream.asked, loop)
    assert observed.heard.text == text
    assert len(observed.requests) == 1
