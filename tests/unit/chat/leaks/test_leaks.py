"""Tool calls that a provider leaked into the answer's text, in any dialect, found while it streams (quirk A11)."""

import json

import pytest
from signalbox.chat.leaks import LeakFilter, ParsedText, parse_leak
from signalbox.chat.leaks.dialects import OPENERS
from signalbox.core.parts import ArgumentStatus

from tests.unit.chat.leaks.leak_samples import CALLED, LEAKS, RAIN, SCHEMAS, found_in, parse_cut


@pytest.mark.parametrize("dialect", LEAKS)
def test_a11_every_dialect_is_found_and_the_text_around_it_stays(dialect: str) -> None:
    """The calls are in order and typed by the schema; text before and after them is complete."""
    leak, calls = LEAKS[dialect]
    parsed = parse_cut(f"Let me look.\n\n{leak}\n\nDone: 1 < 2.")
    assert (parsed.text, found_in(parsed), parsed.has_markup) == ("Let me look.\n\nDone: 1 < 2.", calls, True)


@pytest.mark.parametrize("dialect", LEAKS)
def test_a11_no_split_changes_what_is_found(dialect: str) -> None:
    """Cutting the text in two anywhere, or into single letters, gives the same result."""
    text = f"Let me `look`:\n{LEAKS[dialect][0]} Done\n<b>"
    whole = parse_cut(text)
    assert parse_cut(*text) == whole
    for cut in range(1, len(text)):
        assert parse_cut(text[:cut], text[cut:]) == whole, text[:cut]


@pytest.mark.parametrize("dialect", LEAKS)
def test_a11_a_truncated_leak_adds_no_other_call(dialect: str) -> None:
    """A truncated leak gives only its complete calls; text before it stays."""
    leak, calls = LEAKS[dialect]
    for cut in range(len(leak) if calls else 0):
        parsed = parse_cut("Look. " + leak[:cut])
        found = found_in(parsed)
        assert found == calls[: len(found)], leak[:cut]
        assert parsed.text.rstrip() == ("Look. " + ("" if parsed.has_markup else leak[:cut])).rstrip()


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize(
    "after", ["", " ", " tag is used by Hermes.", "</b>", ", and", "\n\nand so on\n", "x y", "JSON."]
)
def test_a11_an_opener_in_prose_is_prose(opener: str, after: str) -> None:
    """Text that only mentions an opener stays complete; DSML's closing tags are never prose."""
    if opener.startswith("</"):
        return
    text = f"The {opener}{after}"
    assert parse_cut(text) == parse_cut(*text) == ParsedText(text, (), False)


@pytest.mark.parametrize(
    "text",
    [
        "Hermes wraps JSON in <tool_call></tool_call> tags.",
        "It looks like <tool_call>JSON</tool_call> then.",
        "It looks like <tool_call>tags\nor so.",
        "Write <function=name> and then <parameter=key>.",
        'Write <invoke name="x"> and so on.',
        "Use <function_calls> around <invoke>.",
        "<tool_call> <tool_call> <tool_call>",
        "[TOOL_CALLS] [1]",
        "if a < b and c<d: List<T>, [T], [TOOL, <|x|>, <tool, <div class='x'>y</div> << >> <",
    ],
)
def test_a11_prose_about_markup_stays(text: str) -> None:
    """Text that is not valid in the dialect stays complete, and a leak after it is found."""
    for parsed in (parse_cut(text), parse_cut(*text)):
        assert parsed == ParsedText(text, (), False)
    parsed = parse_cut(*(text + "\n" + CALLED))
    assert (parsed.text, found_in(parsed)) == (text + "\n", [RAIN])


@pytest.mark.parametrize(("before", "text"), [("it is ", "So it is after"), ("it is", "So it is after")])
def test_a11_white_space_around_a_leak_is_merged(before: str, text: str) -> None:
    """White space before the leak stays, also if it arrived in a piece that needed no search."""
    assert parse_cut("So ", before, CALLED, " after").text == text


def test_a11_prose_is_released_as_soon_as_it_is_certain() -> None:
    """Prose is held back only until it cannot be markup, not to the end of the answer."""
    leaks = LeakFilter(SCHEMAS)
    assert leaks.feed("the <tool_call>") == "the "
    assert leaks.feed(" tag is") == "<tool_call> tag is"


@pytest.mark.parametrize("call", [("now", "{}"), ("unknown", None)])
def test_a11_a_lone_word_is_a_call_only_of_an_offered_tool(call: tuple[str, str | None]) -> None:
    """GLM writes a call without arguments as a word between tags; prose can look the same."""
    name, arguments = call
    parsed = parse_cut(f"<tool_call>{name}</tool_call>")
    assert [found.arguments for found in parsed.calls] == ([arguments] if arguments else [])


def test_a11_invalid_json_is_a_call_with_invalid_arguments() -> None:
    """A model that forgot to escape a quote gets an error, as for any other call (quirk A10)."""
    parsed = parse_cut('<tool_call>{"name": "search", "arguments": {"q": "say "hi" now"}}</tool_call>')
    assert [(call.name, call.status) for call in parsed.calls] == [("search", ArgumentStatus.INVALID)]
    assert parsed.calls[0].arguments == '{"q": "say "hi" now"}'


def test_a11_without_a_schema_a_value_is_text() -> None:
    """`5` is a number only if a schema says so."""
    parsed = parse_leak("<tool_call><function=search><parameter=n>5</parameter></function></tool_call>")
    assert found_in(parsed) == [("search", {"n": "5"})]


@pytest.mark.parametrize("value", ["five", "5 apples", "1e999", "{'a': 1}", "", "[1"])
def test_a11_a_value_of_another_type_stays_text(value: str) -> None:
    """The schema check then tells the model what is wrong."""
    parsed = parse_cut(f"<function=search><parameter=n>{value}</parameter></function>")
    assert found_in(parsed) == [("search", {"n": value})]


def test_a11_schema_and_dialect_decide_what_is_text() -> None:
    """A type that may be a string is one; DSML's own mark has priority over the schema."""
    parsed = parse_cut("<function=search><parameter=any>5</parameter></function>")
    assert found_in(parsed) == [("search", {"any": "5"})]
    marked = '<|DSML|invoke name="search"><|DSML|parameter name="n" string="true">5</|DSML|parameter></|DSML|invoke>'
    assert found_in(parse_cut(marked)) == [("search", {"n": "5"})]


def test_a11_several_leaks_keep_their_order() -> None:
    """Duplicates are all returned; the caller decides about them."""
    glm = LEAKS["glm, no line breaks"][0]
    parsed = parse_cut(f"a {CALLED} b {glm} c {CALLED}")
    assert (parsed.text, found_in(parsed)) == ("a b c ", [RAIN, RAIN, RAIN])


def test_a11_leaked_calls_look_like_decoded_ones() -> None:
    """A leaked call has a text of arguments, its parsed value, and no id."""
    (call,) = parse_cut(LEAKS["glm"][0]).calls
    assert (call.id, call.status, json.loads(call.arguments)) == (None, ArgumentStatus.OK, call.value)
