"""The rule-based model: questions, calls of the offered tools, and answers from their results."""

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
    """Return the model's next turn."""
    return decide(parse_request(ask("openai/sim", *messages, **fields)), FAMILIES["openai"])


def call_message(call: Call, call_id: str = "c1") -> dict[str, Any]:
    """Write the assistant message of a call."""
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def answer_to(question: str, *values: Any, **fields: Any) -> str:
    """Run the loop with `values` as the results of the calls, and return the answer."""
    messages: list[Any] = [question]
    for at, value in enumerate(values):
        calls = turn(*messages, **fields, parallel_tool_calls=False).calls
        assert len(calls) == 1
        messages += [call_message(calls[0], f"c{at}"), result(f"c{at}", value)]
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
def test_stages_of_questions(question: str, expected: list[list[tuple[str, str]]]) -> None:
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
def test_places_in_follow_up_questions(before: list[str], question: str, expected: list[tuple[str, str]]) -> None:
    """A message of only places asks for the time if the last question did; else the places are searched for."""
    [stage] = asked_for(question, before)
    assert [(intent.kind, intent.subject) for intent in stage] == expected


def test_follow_up_questions_call_the_clock() -> None:
    """The conversation of docs/api.md ends with a call for the second place."""
    said = {"role": "assistant", "content": "It is 11:22 in Tokyo."}
    assert turn("What is the time in Tokyo?", said, "And in Lima?").calls == (
        Call("get_current_time", {"timezone": "America/Lima"}),
    )


def test_then_waits_for_results() -> None:
    """The call after "then" is made after the first results."""
    question = "Search for replay and then calculate 2+2"
    first = turn(question).calls
    assert first == (Call("search_web", {"query": "replay"}),)
    assert turn(question, call_message(first[0]), result("c1", {"results": []})).calls == (
        Call("calculate", {"expression": "2+2"}),
    )


def test_searches_again_with_fewer_words() -> None:
    """A search that found nothing is retried with fewer words, and then the answer says so."""
    question = "How does the journal keep finished runs?"
    first = turn(question).calls[0]
    second = turn(question, call_message(first), result("c1", {"results": []})).calls[0]
    assert len(second.arguments["query"].split()) < len(first.arguments["query"].split())
    assert "found nothing" in answer_to(question, {"results": []}, {"results": []})


def test_detailed_questions_get_a_second_search() -> None:
    """A question for details gets a second search with words of the first results."""
    question = "Explain in detail how replay works"
    first = turn(question).calls[0]
    second = turn(question, call_message(first), result("c1", {"results": [source(1, title="Journal cursors")]})).calls
    assert second == (Call("search_web", {"query": "replay works Journal cursors"}),)


def test_news_get_a_time_hint() -> None:
    """A question about news has a time hint if the tool supports it."""
    assert turn("What is the latest news about Python?").calls[0].arguments["time_hint"] == "week"


def test_only_offered_tools_are_called() -> None:
    """Without a calculator nothing is calculated, and without tools the answer names what is missing."""
    assert turn("What is 17*23?", tools=[SEARCH, TIME]).calls == ()
    assert "offers no tool that I can use" in turn("How does replay work?", tools=None).text
    assert turn("How does replay work?", tool_choice="none").calls == ()


def test_tools_named_in_the_text() -> None:
    """A tool that the text names is called, with arguments of the right types."""
    weather = tool("weather", ["location", "days", "exact"], location="string", days="integer", exact="boolean")
    calls = turn("What is the weather in Florence, Italy for 3 days?", tools=[SEARCH, weather]).calls
    assert calls == (Call("weather", {"location": "Florence, Italy", "days": 3, "exact": True}),)


def test_urls_go_to_the_tool_that_reads_them() -> None:
    """A tool that requires a URL is called with the URL in the text."""
    reader = tool("read_url", ["url"], url="string")
    calls = turn("Summarise https://example.org/a.html.", tools=[reader]).calls
    assert calls == (Call("read_url", {"url": "https://example.org/a.html"}),)


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "search_web"}}])
def test_forced_calls_are_made_once(choice: Any) -> None:
    """A forced tool is called although the question does not need it, and then the answer follows."""
    calls = turn("Hello!", tool_choice=choice).calls
    assert [call.name for call in calls] == ["search_web"]
    assert (
        turn("Hello!", call_message(calls[0]), result("c1", {"results": [source(1)]}), tool_choice=choice).calls == ()
    )


def test_a_forced_tool_is_called_first_and_alone() -> None:
    """Only the forced tool is called, with values of the question; other calls follow."""
    choice = {"type": "function", "function": {"name": "calculate"}}
    question = "What time is it in Lima, and what is 6*7?"
    assert turn(question, tool_choice=choice).calls == (Call("calculate", {"expression": "6*7"}),)
    forced = turn(
        "Hello!", tools=[SEARCH, TIME], tool_choice={"type": "function", "function": {"name": "get_current_time"}}
    ).calls
    assert [call.name for call in forced] == ["get_current_time"]


def test_required_calls_any_offered_tool() -> None:
    """If no offered tool fits the question, one is called all the same."""
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
        ('Call roll_dice {"count": 1e400}', {"count": 1}),
        ('Call roll_dice {"name": "\\udead"}', {"count": 1}),
        ('Call roll_dice {"count": 99999999999999999999}', {"count": 1e20}),
        (f'Call roll_dice {{"count": {"[" * 10_000}', {"count": 1}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_arguments_after_a_tool_name(question: str, arguments: dict[str, Any]) -> None:
    """A JSON object after the name is the arguments; other text, and what JSON cannot hold, is not."""
    assert turn(question, tools=[tool("roll_dice", ["count"], count="integer")]).calls[0].arguments == arguments


def test_answers_cite_results() -> None:
    """Titles, snippets and numbers are those of the results."""
    items = [source(4, "Alpha", "First replay."), source(9, "Beta", "Second replay.")]
    text = answer_to("How does replay work?", {"success": True, "result": {"results": items}})
    assert "**Alpha**: First replay. [4]" in text
    assert "**Beta**: Second replay. [9]" in text
    assert text.count("[") == 2


@pytest.mark.parametrize("question", ["Who built the Eiffel tower?", "Wer hat den Eiffelturm gebaut?"])
def test_unrelated_results_are_not_quoted(question: str) -> None:
    """Unrelated sources are named but not quoted, and the answer says that nothing was found."""
    items = [source(1, "Bench", "It was built in a day."), source(2, "The loop")]
    value = {"success": True, "result": {"searched": "docs", "results": items}}
    text = answer_to(question, value)
    assert text.startswith("This server's documents have nothing on **")
    assert "- Bench [1]" in text
    assert "built in a day" not in text
    assert "found about" not in text


def test_a_retried_search_is_mentioned_once() -> None:
    """The second search with fewer words adds no second sentence."""
    value = {"success": True, "result": {"searched": "docs", "results": []}}
    text = answer_to("Wer hat den Eiffelturm gebaut?", value, value)
    assert text == "This server's documents have nothing on **Wer hat den Eiffelturm gebaut**."


def test_reasoning_agrees_with_the_answer() -> None:
    """Two sections of a page are one source, and the reasoning does not call nothing enough."""
    question = "Who built the Eiffel tower?"
    call = turn(question).calls[0]
    sections = [{**source(1), "url": f"/guide/a.md#{part}"} for part in ("one", "two")]
    thought = turn(question, call_message(call), result("c1", {"results": sections})).reasoning
    assert "1 result with 1 source." in thought
    assert "Nothing in them is about that" in thought


def test_complete_sentences_are_quoted() -> None:
    """Truncated sentences and those of other sections are left out."""
    snippet = "…of it. Replay goes on. It starts at a cursor and so on, which is… … [Other] Another thing."
    text = answer_to("How does replay work?", {"results": [source(1, "Runs › Replay", snippet)]})
    assert "- **Runs › Replay**: Replay goes on. [1]" in text


def test_each_source_is_quoted_once() -> None:
    """A source that two searches found appears once."""
    value = {"results": [source(1, "SSE or WebSockets")]}
    assert answer_to("Compare SSE and WebSockets", value, value).count("[1]") == 1


def test_failed_tools() -> None:
    """The answer reports an error in any format with its message."""
    for failure in (
        {"success": False, "error": "The search timed out.", "code": "TIMEOUT"},
        {"error": {"message": "The search timed out."}},
    ):
        text = answer_to("How does replay work?", failure)
        assert "failed" in text
        assert "The search timed out." in text
    assert "failed" in answer_to("What is 1/0 + 2?", {"success": False, "error": "division by zero"})


def test_plain_text_results_are_quoted() -> None:
    """A result that is not JSON is quoted unchanged."""
    weather = tool("weather", ["location"], location="string")
    assert "`weather` returned: 40 C" in answer_to("weather in Rome", "40 C", tools=[weather])


def test_delimited_results() -> None:
    """JSON inside other text is found."""
    text = f"<untrusted id=1f>\n{json.dumps({'results': [source(2)]})}\n</untrusted>"
    assert [item.n for item in read_result(text).items] == [2]


def test_results_of_earlier_questions() -> None:
    """They are not quoted again."""
    first = turn("How does replay work?").calls[0]
    earlier = ["How does replay work?", call_message(first), result("c1", {"results": [source(1)]})]
    text = turn(*earlier, {"role": "assistant", "content": "So."}, "Thanks!").text
    assert text == "You're welcome!"


def test_asked_who_it_is() -> None:
    """The model says that it is simulated, and which model it imitates."""
    text = turn("Who are you?").text
    assert "simulated model" in text
    assert "openai/sim" in text


def test_asked_for_the_last_question() -> None:
    """The previous question is taken from the history."""
    assert "“2+2”" in turn("2+2", {"role": "assistant", "content": "4"}, "What did I ask before?").text


def test_images_in_the_question() -> None:
    """An image is mentioned but not described."""
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
def test_response_format(wanted: dict[str, Any], keys: set[str]) -> None:
    """With a response_format, the answer is one JSON object with the required keys."""
    assert set(json.loads(turn("Hello!", response_format=wanted).text)) == keys


def test_long_messages() -> None:
    """Three hundred thousand characters are parsed."""
    text = "the quick brown fox 12 + 7 jumps over - and what about (this), then? " * 4500
    assert turn(text).calls


def test_markup_in_quotes() -> None:
    """A source cannot format the answer or add citations; names keep their underscores."""
    value = {"results": [source(3, "# Replay **title**", "See [9] and `max_steps` <b>now</b>")]}
    assert "- **Replay title**: See 9 and max_steps now [3]" in answer_to("How does replay work?", value)


def test_tools_are_recognized_by_words_in_their_names() -> None:
    """`update_record` is not a clock although its name contains "date"."""
    update = tool("update_record", ["id"], id="string")
    assert turn("What time is it?", tools=[update]).calls == ()
