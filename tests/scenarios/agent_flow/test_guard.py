"""SC-02 and SC-15: the step limit, and answers that are no files."""

import pytest
from signalbox.chat.loops.finalize import FILE_WORDS

from tests.scenarios.agent_flow.flow import Flows, called, create, outcomes
from tests.scenarios.tool_loop.script import answers, calls
from tests.support.scripted_upstream import Exchange, chunk


def test_sc02_the_limit_ends_with_the_last_good_state(flow: Flows) -> None:
    """If the model still calls tools at the limit, one turn in words follows: the files stay, and a warning says so."""
    steps = [calls(create(content=f"<h1>{n}</h1>", overwrite=True)) for n in (1, 2)]
    stage = flow(*steps, answers("Two versions are done."), calls(called("read_file", path="index.html")), answers("."))
    answered = stage.ask(max_steps=2)
    heard = answered.heard
    assert (heard.done["status"], heard.done["steps"], heard.text) == ("complete", 3, "Two versions are done.")
    assert heard.warnings == ["TURN_LIMIT"]
    assert "still called tools in step 2, the last one" in heard.of("warning")[0]["message"]
    last = stage.bodies[2]
    assert last["tool_choice"] == "none"
    assert FILE_WORDS in last["messages"][0]["content"]
    assert len(stage.results(2)) == 2  # the model has seen what its last calls did
    stage.ask("What is there?")
    file = stage.results()[-1]
    assert (file["content"], file["version"]) == ("<h1>2</h1>", 2)


def test_sc02_an_answer_at_the_limit_is_no_cut(flow: Flows) -> None:
    """A model that may still call tools at the limit, and answers in words, has finished: no warning."""
    stage = flow(calls(create()), calls(called("list_files")), answers("The page is done."))
    heard = stage.ask(max_steps=3).heard
    assert (heard.done["status"], heard.done["steps"], heard.text) == ("complete", 3, "The page is done.")
    assert heard.warnings == []
    assert stage.bodies[2].get("tool_choice") != "none"
    assert FILE_WORDS not in str(stage.bodies[2]["messages"])


def test_sc02_calls_at_the_limit_do_not_run(flow: Flows) -> None:
    """A model that calls tools although they are off changes nothing that it has not seen."""
    steps = [calls(create(content=f"<h1>{n}</h1>", overwrite=True), text=(f"Step {n}. ",)) for n in (1, 2, 3)]
    stage = flow(*steps)
    heard = stage.ask(max_steps=2).heard
    assert len(heard.calls) == 2
    assert (heard.done["status"], heard.warnings) == ("complete", ["TURN_LIMIT"])
    assert heard.text.endswith("Step 3. ")
    assert len(stage.bodies) == 3


def test_sc02_a_flow_may_take_50_steps(flow: Flows) -> None:
    """The highest limit is 50, the default 8."""
    steps = [calls(create(f"{n}.html")) for n in range(30)]
    heard = flow(*steps, answers("Done.")).ask(max_steps=50).heard
    assert (heard.done["steps"], heard.warnings, heard.text) == (31, [], "Done.")
    heard = flow(*steps[:8], answers("Eight pages.")).ask().heard
    assert (heard.done["steps"], heard.warnings, heard.text) == (9, ["TURN_LIMIT"], "Eight pages.")


def test_sc02_a_run_without_files_warns_as_before(flow: Flows) -> None:
    """Offered file tools alone change nothing for existing clients."""
    steps = [calls(called("calculate", expression="6*7")), calls(called("calculate", expression="6*8")), answers("42.")]
    heard = flow(*steps).ask(max_steps=2, tools=["create_file", "calculate"]).heard
    assert heard.warnings == ["MAX_STEPS"]


@pytest.mark.parametrize("text", ["I cannot do that.", "```html\n<h1>One</h1>\n```", "<h1>One</h1>"])
def test_sc15_a_text_is_an_answer_and_no_file(flow: Flows, text: str) -> None:
    """Neither a refusal in words nor code in the text becomes a file."""
    stage = flow(answers(text), calls(called("list_files")), answers("Nothing."))
    answered = stage.ask()
    assert (answered.heard.text, answered.heard.calls, answered.heard.done["status"]) == (text, [], "complete")
    stage.ask("Which files are there?")
    assert stage.results() == [{"files": []}]


def test_sc15_a_refusal_of_the_provider_is_a_refusal(flow: Flows) -> None:
    """It is marked as one, ends the run, and leaves earlier files alone."""

    async def refuses(exchange: Exchange) -> None:
        if exchange.asked.body["stream"]:
            await exchange.head()
            await exchange.send(chunk({"refusal": "I cannot do that."}))
            await exchange.end()
            return
        message = b'{"role":"assistant","content":null,"refusal":"I cannot do that."}'
        await exchange.whole(
            200, b'{"id":"g","choices":[{"index":0,"message":' + message + b',"finish_reason":"stop"}]}'
        )

    stage = flow(calls(create()), refuses, calls(called("list_files")), answers("One."))
    answered = stage.ask()
    heard = answered.heard
    assert (heard.done["status"], heard.done["code"]) == ("content_filter", "CONTENT_FILTER")
    assert [event["refusal"] for event in heard.of("content")] == [True]
    assert [one["artifact"]["path"] for one in outcomes(answered)] == ["index.html"]
    stage.ask("Which files are there?")
    assert [file["path"] for file in stage.results()[-1]["files"]] == ["index.html"]
