"""The rule-based model reads questions, plans calls of the tools it finds, and answers only from their results."""

import json
from typing import Any

import pytest
from signalbox.simulator.families import FAMILIES
from signalbox.simulator.http.incoming import parse_request
from signalbox.simulator.model.intents import asked_for, stages
from signalbox.simulator.model.next_turn import decide
from signalbox.simulator.model.tool_results import read_result
from signalbox.simulator.model.turns import Call, Turn

from tests.unit.simulator.requests import SEARCH, TIME, ask, result, source, tool


def turn(*messages: dict[str, Any] | str, **fields: Any) -> Turn:
    """Let the model decide."""
    return decide(parse_request(ask("openai/sim", *messages, **fields)), FAMILIES["openai"])


def asked(call: Call, call_id: str = "c1") -> dict[str, Any]:
    """Write the assistant message of a call."""
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def answered(question: str, *values: Any, **fields: Any) -> str:
    """Play the loop: each value answers the next call; give the answer."""
    messages: list[Any] = [question]
    for at, value in enumerate(values):
        calls = turn(*messages, **fields, parallel_tool_calls=False).calls
        assert len(calls) == 1
        messages += [asked(calls[0], f"c{at}"), result(f"c{at}", value)]
    last = turn(*messages, **fields)
    assert last.calls == ()
    return last.text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Hello!", []),
        ("Who are you?", []),
        ("Thanks a lot!", []),
        ("Tell me a joke", []),
        ("What is 17*23?", [[("calculate", "17*23")]]),
        ("2+2", [[("calculate", "2+2")]]),
        ("what's 15% of 80", [[("calculate", "15 / 100 * 80")]]),
        ("How much is 1,000 / 8?", [[("calculate", "1000 / 8")]]),
        ("What is the square root of 2 and 12 times 7?", [[("calculate", "sqrt(2)"), ("calculate", "12 * 7")]]),
        ("What time is it?", [[("time", "")]]),
        ("What time is it in Tokyo and New York?", [[("time", "Asia/Tokyo"), ("time", "America/New_York")]]),
        ("What is the time in Europe/Oslo?", [[("time", "Europe/Oslo")]]),
        ("What is time to first token?", [[("search", "time first token")]]),
        ("How does the tool loop decide?", [[("search", "tool loop decide")]]),
        ("Compare SSE and WebSockets", [[("search", "SSE"), ("search", "WebSockets")]]),
        ("What is SSE and why is it used?", [[("search", "SSE")]]),
        ("what happened on 2024-01-02?", [[("search", "happened 2024-01-02")]]),
        ("What is the time in Tokyo and in Lima", [[("time", "Asia/Tokyo"), ("time", "America/Lima")]]),
        ("What time is it in north Dakota?", [[("time", "")]]),
        ("Search for the clamp, then search for dedupe", [[("search", "clamp")], [("search", "dedupe")]]),
        ("First search for replay, then for dedupe.", [[("search", "replay")], [("search", "dedupe")]]),
        ("Search for replay and then calculate 2+2", [[("search", "replay")], [("calculate", "2+2")]]),
    ],
)
def test_reads_questions(question: str, expected: list[list[tuple[str, str]]]) -> None:
    """A message becomes stages of intents."""
    assert [[(intent.kind, intent.subject) for intent in stage] for stage in stages(question)] == expected


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (["What is the time in Tokyo?"], "And in Lima?", [("time", "America/Lima")]),
        (
            ["What is the time in Tokyo?"],
            "what about Oslo and Rome?",
            [("time", "Europe/Oslo"), ("time", "Europe/Rome")],
        ),
        (["What is the time in Tokyo?", "And in Lima?", "In Oslo?"], "Quito?", [("search", "Quito")]),
        (["What is the time in Tokyo?", "And in Lima?", "In Oslo?"], "Cairo?", [("time", "Africa/Cairo")]),
        (["What is a run?"], "And in Lima?", [("search", "Lima")]),
        (["What is the time in Tokyo?"], "And what is a run?", [("search", "run")]),
        ([], "And in Lima?", [("search", "Lima")]),
    ],
)
def test_a_place_asks_on_after_a_question_for_the_time(
    before: list[str], question: str, expected: list[tuple[str, str]]
) -> None:
    """Places alone mean the time there where the last whole question was for the time; else they are searched for."""
    [stage] = asked_for(question, before)
    assert [(intent.kind, intent.subject) for intent in stage] == expected


def test_the_followed_up_question_calls_the_clock() -> None:
    """The conversation of docs/api.md ends in a call for the second place."""
    said = {"role": "assistant", "content": "It is 11:22 in Tokyo."}
    assert turn("What is the time in Tokyo?", said, "And in Lima?").calls == (
        Call("get_current_time", {"timezone": "America/Lima"}),
    )


def test_waits_for_the_stage_before() -> None:
    """What follows "then" is asked after the first results."""
    question = "Search for replay and then calculate 2+2"
    first = turn(question).calls
    assert first == (Call("search_web", {"query": "replay"}),)
    assert turn(question, asked(first[0]), result("c1", {"results": []})).calls == (
        Call("calculate", {"expression": "2+2"}),
    )


def test_searches_again_with_fewer_words() -> None:
    """A search that found nothing is tried once more, shorter, and then it says so."""
    question = "How does the journal keep finished runs?"
    first = turn(question).calls[0]
    second = turn(question, asked(first), result("c1", {"results": []})).calls[0]
    assert len(second.arguments["query"].split()) < len(first.arguments["query"].split())
    assert "found nothing" in answered(question, {"results": []}, {"results": []})


def test_searches_deeper_when_asked_to() -> None:
    """Asked for detail it brings a second search with words from the first results."""
    question = "Explain in detail how replay works"
    first = turn(question).calls[0]
    second = turn(question, asked(first), result("c1", {"results": [source(1, title="Journal cursors")]})).calls
    assert second == (Call("search_web", {"query": "replay works Journal cursors"}),)


def test_news_get_a_time_hint() -> None:
    """A question about news restricts the time where the tool can."""
    assert turn("What is the latest news about Python?").calls[0].arguments["time_hint"] == "week"


def test_only_offered_tools_are_called() -> None:
    """Without a calculator nothing is calculated, and without tools the answer says what is missing."""
    assert turn("What is 17*23?", tools=[SEARCH, TIME]).calls == ()
    assert "offers no tool that I can use" in turn("How does replay work?", tools=None).text
    assert turn("How does replay work?", tool_choice="none").calls == ()


def test_named_tool_is_called_with_what_the_text_holds() -> None:
    """Any function is called when its name stands in the text; arguments are filled by type."""
    weather = tool("weather", ["location", "days", "exact"], location="string", days="integer", exact="boolean")
    calls = turn("What is the weather in Florence, Italy for 3 days?", tools=[SEARCH, weather]).calls
    assert calls == (Call("weather", {"location": "Florence, Italy", "days": 3, "exact": True}),)


def test_address_goes_to_the_reader() -> None:
    """A tool that requires a url is called with the address in the text."""
    reader = tool("read_url", ["url"], url="string")
    calls = turn("Summarise https://example.org/a.html.", tools=[reader]).calls
    assert calls == (Call("read_url", {"url": "https://example.org/a.html"}),)


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "search_web"}}])
def test_forced_choice_is_obeyed_once(choice: Any) -> None:
    """A forced tool is called although nothing asks for it, and then the answer comes."""
    calls = turn("Hello!", tool_choice=choice).calls
    assert [call.name for call in calls] == ["search_web"]
    assert turn("Hello!", asked(calls[0]), result("c1", {"results": [source(1)]}), tool_choice=choice).calls == ()


def test_a_forced_tool_comes_alone_and_first() -> None:
    """A named tool is called and no other, with what the question asks of it; then the question is worked on."""
    choice = {"type": "function", "function": {"name": "calculate"}}
    question = "What time is it in Lima, and what is 6*7?"
    assert turn(question, tool_choice=choice).calls == (Call("calculate", {"expression": "6*7"}),)
    forced = turn(
        "Hello!", tools=[SEARCH, TIME], tool_choice={"type": "function", "function": {"name": "get_current_time"}}
    ).calls
    assert [call.name for call in forced] == ["get_current_time"]


def test_required_calls_whatever_is_offered() -> None:
    """Also where the question asks for something that no offered tool does."""
    dice = tool("roll_dice", ["count"], count="integer")
    for question in ("Hello!", "What is 17*23?", "How does replay work?", ""):
        calls = turn(question, tools=[dice], tool_choice="required").calls
        assert [call.name for call in calls] == ["roll_dice"]
    assert turn("Roll 4.", tools=[dice], tool_choice="required").calls[0].arguments == {"count": 4}


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ('Call roll_dice {"count": 5, "sides": 20}.', {"count": 5, "sides": 20}),
        ('Roll dice with {"count": 2} please', {"count": 2}),
        ("roll_dice {count: 3}", {"count": 3}),
        ("Use roll dice.", {"count": 1}),
    ],
)
def test_a_name_with_json_behind_it_is_called_so(question: str, arguments: dict[str, Any]) -> None:
    """The JSON is the arguments; what is no JSON is read like any text."""
    assert turn(question, tools=[tool("roll_dice", ["count"], count="integer")]).calls[0].arguments == arguments


def test_answer_quotes_with_the_numbers_of_the_results() -> None:
    """Titles, snippets and numbers are those that were sent; nothing else is cited."""
    items = [source(4, "Alpha", "First replay."), source(9, "Beta", "Second replay.")]
    text = answered("How does replay work?", {"success": True, "result": {"results": items}})
    assert "**Alpha**: First replay. [4]" in text
    assert "**Beta**: Second replay. [9]" in text
    assert text.count("[") == 2


@pytest.mark.parametrize("question", ["Who built the Eiffel tower?", "Wer hat den Eiffelturm gebaut?"])
def test_it_does_not_claim_to_have_found_what_it_has_not(question: str) -> None:
    """Sources that share no telling word are named, not quoted, and the answer says that there is nothing."""
    items = [source(1, "Bench", "It was built in a day."), source(2, "The loop")]
    value = {"success": True, "result": {"searched": "docs", "results": items}}
    text = answered(question, value)
    assert text.startswith("This server's documents have nothing on **")
    assert "- Bench [1]" in text
    assert "built in a day" not in text
    assert "found about" not in text


def test_an_empty_search_that_was_tried_again_is_told_once() -> None:
    """The second try with fewer words adds no second sentence."""
    value = {"success": True, "result": {"searched": "docs", "results": []}}
    text = answered("Wer hat den Eiffelturm gebaut?", value, value)
    assert text == "This server's documents have nothing on **Wer hat den Eiffelturm gebaut**."


def test_its_thoughts_agree_with_its_answer() -> None:
    """Two sections of a page are one source, and it does not think that nothing is enough."""
    question = "Who built the Eiffel tower?"
    call = turn(question).calls[0]
    sections = [{**source(1), "url": f"/guide/a.md#{part}"} for part in ("one", "two")]
    thought = turn(question, asked(call), result("c1", {"results": sections})).reasoning
    assert "1 result with 1 source." in thought
    assert "Nothing in them is about that" in thought


def test_whole_sentences_are_quoted() -> None:
    """What is cut at either end of a snippet stays out, and so does what another section says."""
    snippet = "…of it. Replay goes on. It starts at a cursor and so on, which is… … [Other] Another thing."
    text = answered("How does replay work?", {"results": [source(1, "Runs › Replay", snippet)]})
    assert "- **Runs › Replay**: Replay goes on. [1]" in text


def test_each_source_is_quoted_once() -> None:
    """A source that two searches brought stands in the answer once."""
    value = {"results": [source(1, "SSE or WebSockets")]}
    assert answered("Compare SSE and WebSockets", value, value).count("[1]") == 1


def test_failed_tools_are_said_to_have_failed() -> None:
    """An error is told with its sentence, in any shape."""
    for failure in (
        {"success": False, "error": "The search timed out.", "code": "TIMEOUT"},
        {"error": {"message": "The search timed out."}},
    ):
        text = answered("How does replay work?", failure)
        assert "failed" in text
        assert "The search timed out." in text
    assert "failed" in answered("What is 1/0 + 2?", {"success": False, "error": "division by zero"})


def test_plain_text_results_are_quoted() -> None:
    """A result that is no JSON is quoted as it is."""
    weather = tool("weather", ["location"], location="string")
    assert "`weather` returned: 40 C" in answered("weather in Rome", "40 C", tools=[weather])


def test_fenced_results_are_read() -> None:
    """JSON between other words is found."""
    text = f"<untrusted id=1f>\n{json.dumps({'results': [source(2)]})}\n</untrusted>"
    assert [item.n for item in read_result(text).items] == [2]


def test_only_this_questions_results_count() -> None:
    """Results of an earlier question are not quoted again."""
    first = turn("How does replay work?").calls[0]
    earlier = ["How does replay work?", asked(first), result("c1", {"results": [source(1)]})]
    text = turn(*earlier, {"role": "assistant", "content": "So."}, "Thanks!").text
    assert text == "You're welcome!"


def test_says_what_it_is() -> None:
    """Asked who it is, it says that it is simulated, and which model it imitates."""
    text = turn("Who are you?").text
    assert "simulated model" in text
    assert "openai/sim" in text


def test_remembers_what_was_asked() -> None:
    """The question before this one is in the history."""
    assert "“2+2”" in turn("2+2", {"role": "assistant", "content": "4"}, "What did I ask before?").text


def test_admits_that_it_cannot_see() -> None:
    """A picture is noticed, not described."""
    parts = [
        {"type": "text", "text": "Look at my cat."},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}},
    ]
    assert "cannot see what is in it" in turn({"role": "user", "content": parts}).text


@pytest.mark.parametrize(
    ("wanted", "keys"),
    [
        ({"type": "json_object"}, {"answer"}),
        (
            {
                "type": "json_schema",
                "json_schema": {"schema": {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}},
            },
            {"a", "b"},
        ),
    ],
)
def test_writes_json_when_json_is_wanted(wanted: dict[str, Any], keys: set[str]) -> None:
    """response_format makes the answer one JSON object with the wanted keys."""
    assert set(json.loads(turn("Hello!", response_format=wanted).text)) == keys


def test_a_long_message_is_read_quickly() -> None:
    """Three hundred thousand characters are no trouble."""
    text = "the quick brown fox 12 + 7 jumps over - and what about (this), then? " * 4500
    assert turn(text).calls


def test_quoted_markup_stays_out_of_the_answer() -> None:
    """A source cannot format the answer, nor cite in its name; names keep their underscores."""
    value = {"results": [source(3, "# Replay **title**", "See [9] and `max_steps` <b>now</b>")]}
    assert "- **Replay title**: See 9 and max_steps now [3]" in answered("How does replay work?", value)


def test_tools_are_known_by_the_words_of_their_names() -> None:
    """`update_record` is no clock although it holds the word date."""
    update = tool("update_record", ["id"], id="string")
    assert turn("What time is it?", tools=[update]).calls == ()
