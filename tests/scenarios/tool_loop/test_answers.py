"""Scenarios 01 to 03, 06 to 11 and 48: text, reasoning, successive steps, and the final answer."""

from signalbox.chat.loops.finalize import FINAL_WORDS, FINAL_WORDS_AGAIN

from tests.scenarios.tool_loop.scenario import Scenarios, results_of
from tests.scenarios.tool_loop.script import Called, Said, answers, calls, fails, says, search


def test_01_no_tools(scenario: Scenarios) -> None:
    """Without tools both loops stream: reasoning and each piece are emitted as they arrive, usage at the end."""
    stage = scenario(answers("One, ", "two, ", "three.", reasoning=("Let me think. ", "Two words.")))
    heard = stage.ask(tools=[])
    assert heard.types == ["reasoning", "content", "done"]
    assert heard.reasoning == "Let me think. Two words."
    assert [event["content"] for event in heard.of("content")] == ["One, ", "two, ", "three."]
    assert stage.streamed == [True]
    assert (heard.done["status"], heard.done["steps"], heard.done["cost"]) == ("complete", 1, 0.001)
    assert heard.done["usage"] == {"input": 10, "output": 5}


def test_02_tools_offered_none_called(scenario: Scenarios) -> None:
    """The answer is complete and reasoning keeps its spaces; V2 emits it in pieces, legacy in one."""
    stage = scenario(answers("One, ", "two.", reasoning=("Let me think. ", "Two words.")))
    heard = stage.ask()
    assert (heard.text, heard.reasoning) == ("One, two.", "Let me think. Two words.")
    assert heard.types == ["reasoning", "content", "done"]
    assert stage.streamed == stage.each(False)
    pieces = 1 if stage.loop == "legacy" else 2
    assert (len(heard.of("reasoning")), len(heard.of("content"))) == (pieces, pieces)


def test_03_one_search(scenario: Scenarios) -> None:
    """Reasoning, call, start, result, reasoning, answer, in this order; the model receives the result."""
    stage = scenario(calls(search("tides")), answers("Tides ", "rise.", reasoning=("Now I ", "know.")))
    heard = stage.ask()
    assert heard.types == [
        *("reasoning", "tool_calls", "tool_executing", "tool_result"),
        *("reasoning", "content", "done"),
    ]
    assert stage.searched == ["tides"]
    assert "https://example.org/tides" in results_of(stage.bodies[1])["call_0"]
    assert (heard.text, heard.reasoning) == ("Tides rise.", "I need a tool.Now I know.")
    # Legacy streams only without tools, so this answer is one body; V2 streams it.
    assert stage.streamed == stage.each(False, False)
    assert len(heard.of("content")) == (1 if stage.loop == "legacy" else 2)


def test_03_one_search_whose_answer_is_the_finalize(scenario: Scenarios) -> None:
    """With tools off, the final answer streams on both loops, including its reasoning."""
    stage = scenario(calls(search("tides")), answers("Tides ", "rise.", reasoning=("Now I ", "know.")))
    heard = stage.ask(max_steps=2)
    assert stage.streamed == stage.each(False, True)
    assert [event["content"] for event in heard.of("content")] == ["Tides ", "rise."]
    assert [event["content"] for event in heard.of("reasoning") if event["step"] == 2] == ["Now I ", "know."]
    assert stage.bodies[1]["tool_choice"] == "none"
    assert stage.bodies[1]["tools"] == stage.bodies[0]["tools"]


def test_06_eight_sequential_searches(scenario: Scenarios) -> None:
    """Eight steps with one search each are executed, and each request contains all earlier results."""
    steps = [calls(search(f"tide {n}", id=f"id_{n}")) for n in range(8)]
    stage = scenario(*steps, answers("Done."))
    heard = stage.ask(max_steps=10, max_searches=8)
    assert stage.searched == [f"tide {n}" for n in range(8)]
    assert [len(results_of(body)) for body in stage.bodies] == list(range(9))
    assert (heard.done["status"], heard.done["steps"], heard.text, heard.warnings) == ("complete", 9, "Done.", [])


def test_06_eight_sequential_searches_within_the_usual_limits(scenario: Scenarios) -> None:
    """Six searches are sent, the seventh is clamped with one warning, the eighth request is the final one."""
    steps = [calls(search(f"tide {n}", id=f"id_{n}")) for n in range(7)]
    stage = scenario(*steps, answers("Done ", "now."))
    heard = stage.ask()
    assert stage.searched == [f"tide {n}" for n in range(6)]
    assert heard.result_codes() == [None] * 6 + ["TOOL_CLAMP"]
    assert heard.warnings == ["TOOL_CLAMP"]
    assert [body.get("tool_choice") for body in stage.bodies] == [None] * 7 + ["none"]
    assert stage.streamed == stage.each(*[False] * 7, True)
    assert (heard.done["status"], heard.text) == ("complete", "Done now.")


def test_07_three_steps(scenario: Scenarios) -> None:
    """Three steps with tools and an answer: four requests, and reasoning carries its step number."""
    stage = scenario(*(calls(search(f"tide {n}")) for n in range(3)), answers("Done.", reasoning=("Enough.",)))
    heard = stage.ask()
    assert stage.searched == ["tide 0", "tide 1", "tide 2"]
    assert heard.done["steps"] == len(stage.bodies) == 4
    assert sorted({event["step"] for event in heard.of("reasoning")}) == [1, 2, 3, 4]
    assert heard.text == "Done."


def test_08_text_before_the_call(scenario: Scenarios) -> None:
    """Text before a call is emitted and stored, and the answer begins a new paragraph."""
    stage = scenario(calls(search("tides"), text=("Let me ", "look.")), answers("Found."))
    heard = stage.ask()
    assert heard.text == "Let me look.\n\nFound."
    kinds = [event["type"] for event in heard.events]
    assert kinds.index("content") < kinds.index("tool_calls")
    assert stage.bodies[1]["messages"][1]["content"] == "Let me look."


def test_09_finalize_empty(scenario: Scenarios) -> None:
    """An empty final answer is retried once with an instruction; both requests stream and keep the tools."""
    stage = scenario(calls(search("tides")), answers(), answers("Tides ", "rise."))
    heard = stage.ask(max_steps=2)
    assert stage.streamed == stage.each(False, True, True)
    assert [body.get("tool_choice") for body in stage.bodies] == [None, "none", "none"]
    assert stage.bodies[1]["messages"][0] == {"role": "system", "content": FINAL_WORDS}
    assert stage.bodies[2]["messages"][0]["content"] == f"{FINAL_WORDS}\n\n{FINAL_WORDS_AGAIN}"
    assert (heard.text, heard.done["status"]) == ("Tides rise.", "complete")
    assert not [m for m in stage.bodies[2]["messages"][2:] if m["role"] == "user"], "no words the user never said"


def test_09_finalize_empty_twice(scenario: Scenarios) -> None:
    """Then a marked replacement text names the sources: never a blank answer."""
    stage = scenario(calls(search("tides")), answers(), answers(" "))
    heard = stage.ask(max_steps=2)
    assert heard.warnings == ["MAX_STEPS", "FINAL_EMPTY"]
    [ours] = [event for event in heard.of("content") if event.get("synthetic")]
    assert "https://example.org/tides" in ours["content"]
    assert heard.done["status"] == "complete"


def test_10_finalize_returns_tool_calls(scenario: Scenarios) -> None:
    """Forbidden calls in the final step are neither announced nor executed, and an answer follows."""
    stage = scenario(calls(search("tides")), calls(search("more")), answers("Tides ", "rise."))
    heard = stage.ask(max_steps=2)
    assert stage.searched == ["tides"]
    assert len(heard.calls) == 1
    assert (heard.text, heard.done["status"]) == ("Tides rise.", "complete")


def test_10_finalize_returns_tool_calls_beside_words(scenario: Scenarios) -> None:
    """Text beside such calls is the answer; no further request is sent."""
    stage = scenario(calls(search("tides")), says(Said(text=("Tides rise.",), calls=(search("more"),))))
    heard = stage.ask(max_steps=2)
    assert (heard.text, len(stage.bodies), stage.searched) == ("Tides rise.", 2, ["tides"])


def test_11_finalize_500(scenario: Scenarios, waits: list[float]) -> None:
    """A final request that fails before its text is retried silently."""
    stage = scenario(calls(search("tides")), fails(500), answers("Tides rise."))
    heard = stage.ask(max_steps=2)
    assert (heard.text, heard.done["status"], heard.warnings) == ("Tides rise.", "complete", [])
    assert waits == [0.5]
    assert stage.bodies[1] == stage.bodies[2]


def test_11_finalize_500_for_good(scenario: Scenarios) -> None:
    """A final request that keeps failing ends the run as an error with one warning; earlier results stay."""
    stage = scenario(calls(search("tides")), fails(500))
    heard = stage.ask(max_steps=2)
    assert (heard.done["status"], heard.done["code"]) == ("error", "UPSTREAM_ERROR")
    assert heard.warnings == ["UPSTREAM_ERROR"]
    assert len(stage.bodies) == 4
    assert heard.result_codes() == [None]


def test_48_a_limit_that_was_not_reached(scenario: Scenarios) -> None:
    """A timely answer has no warning; with one allowed request, no tool can run, and a warning says so."""
    stage = scenario(answers("Done."))
    heard = stage.ask(max_steps=1)
    assert (heard.warnings, heard.text, heard.done["steps"]) == (["MAX_STEPS"], "Done.", 1)
    stage = scenario(calls(Called("calculate", '{"expression":"6*7"}')), answers("42."))
    heard = stage.ask(max_steps=3)
    assert (heard.warnings, heard.text, heard.done["steps"]) == ([], "42.", 2)
