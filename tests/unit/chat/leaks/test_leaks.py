"""A11: a call that a host leaked into the answer's text, in whichever dialect, found while it streams."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signalbox.chat.leaks import LeakFilter, ParsedText, parse_leak
from signalbox.chat.leaks.dialects import OPENERS
from signalbox.chat.leaks.filter import LONGEST_OPENER
from signalbox.chat.leaks.leak import MAX_LENGTH
from signalbox.core.messages import JsonObject
from signalbox.core.parts import ArgumentStatus

SCHEMAS: dict[str, JsonObject] = {
    "search": {
        "type": "object",
        "properties": {
            "q": {"type": "string"},
            "n": {"type": "integer"},
            "deep": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
            "where": {"type": ["object", "array"]},
            "any": {"type": ["integer", "string"]},
        },
    },
    "now": {"type": "object", "properties": {}},
}

RAIN, SUN = ("search", {"q": "rain"}), ("search", {"q": "sun"})
SORTED = ("search", {"q": "5", "n": 5, "deep": True, "where": {"a": [1]}})


def _dsml(begin: str, end: str) -> str:
    """Write two calls as DeepSeek does, with these beginnings of its tags."""
    invokes = "\n".join(
        f'{begin}invoke name="search">\n{begin}parameter name="q" string="true">{q}{end}parameter>\n{end}invoke>'
        for q in ("rain", "sun")
    )
    return f"{begin}tool_calls>\n{invokes}\n{end}tool_calls>"


def _parameters(opener: str, between: str, closer: str) -> str:
    values = {"q": "5", "n": " 5", "deep": "True", "where": '{"a": [1]}'}
    return "".join(f"{opener}{key}{between}{value}{closer}" for key, value in values.items())


CALL, BEGIN, END = "<|tool_call_begin|>", "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
V3, V3_CALL, V3_END = "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"
K3_SEP = "<|sep|>"

LEAKS: dict[str, tuple[str, list[tuple[str, Any]]]] = {
    "deepseek v3": (
        (
            f'{V3}{V3_CALL}function<｜tool▁sep｜>search\n```json\n{{"q": "rain"}}\n```{V3_END}\n'
            f'{V3_CALL}function<｜tool▁sep｜>search\n```json\n{{"q": "sun"}}\n```{V3_END}<｜tool▁calls▁end｜>'
        ),
        [RAIN, SUN],
    ),
    "deepseek v3.1": (
        (
            f'{V3}{V3_CALL}search<｜tool▁sep｜>{{"q": "rain"}}{V3_END}{V3_CALL}now<｜tool▁sep｜>{{}}{V3_END}'
            "<｜tool▁calls▁end｜>"
        ),
        [RAIN, ("now", {})],
    ),
    "dsml": (_dsml("<｜DSML｜", "</｜DSML｜"), [RAIN, SUN]),
    "dsml, doubled bars": (_dsml("<｜｜DSML｜｜", "</｜｜DSML｜｜"), [RAIN, SUN]),
    "dsml, ascii bars": (_dsml("<|DSML|", "</|DSML|"), [RAIN, SUN]),
    "dsml, other bars": (_dsml("<‖DSML‖", "</‖DSML‖"), [RAIN, SUN]),
    "dsml, spaced bars": (_dsml("< | DSML | ", "</ | DSML | "), [RAIN, SUN]),
    "dsml, spaced doubled bars": (_dsml("< | DSML | | ", "< / | DSML | | "), [RAIN, SUN]),
    "dsml, closers without bars": (_dsml("<｜DSML｜", "</"), [RAIN, SUN]),
    "dsml in the closers alone": (_dsml("<", "</｜DSML｜"), [RAIN, SUN]),
    "dsml, block of v3.2": (_dsml("<｜DSML｜", "</｜DSML｜").replace("tool_calls", "function_calls"), [RAIN, SUN]),
    "dsml, no block": ("\n".join(_dsml("<｜DSML｜", "</｜DSML｜").splitlines()[1:-1]), [RAIN, SUN]),
    "dsml, types": (
        (
            '<｜DSML｜invoke name=“other”><｜DSML｜parameter name="a" string="true">5</｜DSML｜parameter>'
            '<｜DSML｜parameter name="b" string="false">5</｜DSML｜parameter></｜DSML｜invoke>'
        ),
        [("other", {"a": "5", "b": 5})],
    ),
    "dsml, last call closed by the block": (
        _dsml("<｜DSML｜", "</｜DSML｜").replace("</｜DSML｜invoke>\n</｜DSML｜tool", "</｜DSML｜tool"),
        [RAIN, SUN],
    ),
    "dsml, closers alone": ("</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>", []),
    "kimi k2": (
        (
            f'{BEGIN}{CALL}functions.search:0<|tool_call_argument_begin|>{{"q": "rain"}}<|tool_call_end|>'
            f'{CALL}functions.search:1<|tool_call_argument_begin|>{{"q": "sun"}}<|tool_call_end|>{END}'
        ),
        [RAIN, SUN],
    ),
    "kimi k2, no section": (
        f'{CALL}search:0<|tool_call_argument_begin|>{{"q": "rain"}}<|tool_call_end|>',
        [RAIN],
    ),
    "kimi k2, call closed by the section": (
        f'{BEGIN}{CALL}search:0<|tool_call_argument_begin|>{{"q": "rain"}}{END}',
        [RAIN],
    ),
    "kimi k3": (
        (
            f'<|open|>tools{K3_SEP}<|open|>call tool="search" index="1"{K3_SEP}'
            f'<|open|>argument key="q" type="string"{K3_SEP}5<|close|>argument{K3_SEP}'
            f'<|open|>argument key="n" type="number"{K3_SEP}5<|close|>argument{K3_SEP}<|close|>call{K3_SEP}'
            f'<|open|>call tool="search" index="2"{K3_SEP}<|open|>json type="object"{K3_SEP}{{"q": "sun"}}'
            f"<|close|>json{K3_SEP}<|close|>call{K3_SEP}<|close|>tools{K3_SEP}<|close|>message{K3_SEP}"
        ),
        [("search", {"q": "5", "n": 5}), SUN],
    ),
    "kimi k3, tokens lost": (
        (
            f'<|open|>toolscall tool="search" index="1"{K3_SEP}<|open|>argument key="q" type="string"{K3_SEP}rain'
            f"argument{K3_SEP}<|close|>call{K3_SEP}<|close|>toolsmessage{K3_SEP}"
        ),
        [RAIN],
    ),
    "glm": (
        "<tool_call>search\n"
        + _parameters("<arg_key>", "</arg_key>\n<arg_value>", "</arg_value>\n").replace("> 5", ">5")
        + "</tool_call>",
        [SORTED],
    ),
    "glm, no line breaks": (
        "<tool_call>search<arg_key>q</arg_key><arg_value>rain</arg_value></tool_call>",
        [RAIN],
    ),
    "glm, no arguments": ("<tool_call>now\n</tool_call>", [("now", {})]),
    "hermes": ('<tool_call>\n{"name": "search", "arguments": {"q": "rain"}}\n</tool_call>', [RAIN]),
    "hermes, text that looks like markup": (
        '<tool_call>{"name": "search", "arguments": {"q": "a \\"}</tool_call> {["}}</tool_call>',
        [("search", {"q": 'a "}</tool_call> {['})],
    ),
    "hermes, two in a row": (
        (
            '<tool_call>\n{"name": "search", "arguments": {"q": "rain"}}\n'
            '{"name": "search", "parameters": {"q": "sun"}}\n</tool_call>'
        ),
        [RAIN, SUN],
    ),
    "hermes, as openai nests it": (
        '<tool_call>[{"function": {"name": "search", "arguments": "{\\"q\\": \\"rain\\"}"}}]</tool_call>',
        [RAIN],
    ),
    "hermes, nobody's name": ('<tool_call>{"name": "nobody", "arguments": {}}</tool_call>', [("nobody", {})]),
    "hermes, no name": ('<tool_call>{"q": "rain"}</tool_call>', []),
    "qwen coder": (
        "<tool_call>\n<function=search>\n"
        + _parameters("<parameter=", ">\n", "\n</parameter>\n")
        + "</function>\n</tool_call>",
        [SORTED],
    ),
    "mimo, no wrapper": ("<function=search><parameter=q>rain</parameter></function>", [RAIN]),
    "mimo, no opening wrapper": ("<function=search><parameter=q>rain</parameter></function></tool_call>", [RAIN]),
    "mimo, no parameter tag": ("<tool_call><function=search>rain\n</parameter></function></tool_call>", []),
    "a function with json": ('<function=search>{"q": "rain"}</function>', [RAIN]),
    "minimax": (
        '<minimax:tool_call>\n<invoke name="search">\n<parameter name="q">rain</parameter>\n</invoke>\n'
        "</minimax:tool_call>".replace("<invoke", "<minimax:invoke").replace("<parameter", "<minimax:parameter"),
        [RAIN],
    ),
    "minimax, plain inside": (
        '<minimax:tool_call>\n<invoke name="search">\n'
        + _parameters('<parameter name="', '">', "</parameter>\n")
        + "</invoke>\n</minimax:tool_call>",
        [SORTED],
    ),
    "claude": (
        '<function_calls><invoke name="search"><parameter name="q">rain</parameter></invoke></function_calls>',
        [RAIN],
    ),
    "claude, no block": ('<invoke name="search"><parameter name="q">rain</parameter></invoke>', [RAIN]),
    "a call nothing closes is left out": (
        (
            '<function_calls><invoke name="now"><invoke name="search"><parameter name="q">rain</parameter></invoke>'
            "</function_calls>"
        ),
        [RAIN],
    ),
    "mistral": ('[TOOL_CALLS]search{"q": "rain"}', [RAIN]),
    "mistral, list": (
        '[TOOL_CALLS] [{"name": "search", "arguments": {"q": "rain"}}, {"name": "now", "arguments": {}}]',
        [RAIN, ("now", {})],
    ),
    "mistral, marks": ('[TOOL_CALLS]search[CALL_ID]abc[ARGS]{"q": "rain"}', [RAIN]),
    "llama": ('<|python_tag|>{"name": "search", "parameters": {"q": "rain"}}<|eom_id|>', [RAIN]),
}


def _found(parsed: ParsedText) -> list[tuple[str, Any]]:
    return [(call.name, call.value) for call in parsed.calls]


def _parts(*pieces: str, schemas: dict[str, JsonObject] = SCHEMAS) -> ParsedText:
    leaks, together = LeakFilter(schemas), LeakFilter(schemas)
    text = "".join([leaks.feed(piece) for piece in pieces]) + leaks.close()
    assert "".join(together.feed_all(list(pieces))) + together.close() == text
    assert (together.leaked, together.has_markup) == (leaks.leaked, leaks.has_markup)
    return ParsedText(text, tuple(leaks.leaked), leaks.has_markup)


@pytest.mark.parametrize("dialect", LEAKS)
def test_a11_every_dialect_is_found_and_the_text_around_it_stays(dialect: str) -> None:
    """Calls come in their order with the values that the schema asks for; text before and after is whole."""
    leak, calls = LEAKS[dialect]
    parsed = _parts(f"Let me look.\n\n{leak}\n\nDone: 1 < 2.")
    assert (parsed.text, _found(parsed), parsed.has_markup) == ("Let me look.\n\nDone: 1 < 2.", calls, True)


@pytest.mark.parametrize("dialect", LEAKS)
def test_a11_no_split_changes_what_is_found(dialect: str) -> None:
    """The same, cut in two at every letter, and letter by letter."""
    text = f"Let me `look`:\n{LEAKS[dialect][0]} Done\n<b>"
    whole = _parts(text)
    assert _parts(*text) == whole
    for cut in range(1, len(text)):
        assert _parts(text[:cut], text[cut:]) == whole, text[:cut]


@pytest.mark.parametrize("dialect", LEAKS)
def test_a11_a_leak_cut_anywhere_makes_no_call_of_its_own(dialect: str) -> None:
    """A cut tail gives a beginning of the calls, never one more or another; text before it stays."""
    leak, calls = LEAKS[dialect]
    for cut in range(len(leak) if calls else 0):
        parsed = _parts("Look. " + leak[:cut])
        found = _found(parsed)
        assert found == calls[: len(found)], leak[:cut]
        assert parsed.text.rstrip() == ("Look. " + ("" if parsed.has_markup else leak[:cut])).rstrip()


@pytest.mark.parametrize("dialect", LEAKS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("```xml\n", "\n```\n"),
        ("  ~~~\n```\n", "\n~~~~\n"),
        ("1. so:\n\n    ````\n    ", "\n    ```\n    ````\n"),
        ("- ```\n", "\n"),
    ],
)
def test_a11_a_fence_is_left_alone(dialect: str, before: str, after: str) -> None:
    """The same text in a code block survives, and what follows the block is looked at again."""
    text = before + LEAKS[dialect][0].replace("```", "") + after
    assert _parts(text) == ParsedText(text, (), False)
    assert _parts(*text) == ParsedText(text, (), False)


CALLED = LEAKS["hermes"][0]
INLINE = CALLED.replace("\n", "")


@pytest.mark.parametrize(
    "text",
    [
        f"`{INLINE}`",
        f"``a ` {INLINE}``",
        f"so: `{CALLED}`",
        f"```{INLINE}``` is not a fence",
        f"``` `\n{INLINE}```",
        f"> ```\n> {INLINE}\n",
        f"~~~ `x`\n{INLINE}\n~~~",
        f"```\n{INLINE}\n``` no end\n{INLINE}\n",
        f"```\n{INLINE}\n~~~\n{INLINE}\n``\n{INLINE}",
        f"\\{INLINE}",
    ],
)
def test_a11_code_of_every_form_is_left_alone(text: str) -> None:
    """Spans and fences by their own rules, however they are cut."""
    assert _parts(text) == ParsedText(text, (), False)
    for cut in range(1, len(text)):
        assert _parts(text[:cut], text[cut:]).text == text


@pytest.mark.parametrize(
    "text",
    [
        "```\ncode\n```\n",
        "~~~~\n~~~\n~~~~~ \n",
        "`code` and ``co`de`` ",
        "a ` alone\n\n",
        "``` ` is no fence\n\n",
        "an escaped \\` mark ",
        "\\\\",
        "```not a fence``` ",
        "~~struck~~ ",
        "x ~~~ y\n",
    ],
)
def test_a11_behind_code_a_leak_is_found(text: str) -> None:
    """Code that has ended, and marks that begin none, hide no leak; nor does a span left open in another paragraph."""
    for parsed in (_parts(text + CALLED), _parts(*text, *CALLED)):
        assert (parsed.text, _found(parsed)) == (text, [RAIN])


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize(
    "after", ["", " ", " tag is used by Hermes.", "</b>", ", and", "\n\nand so on\n", "x y", "JSON."]
)
def test_a11_an_opener_in_prose_is_prose(opener: str, after: str) -> None:
    """What only names an opener is given back whole; the closing tags of DSML alone are never prose."""
    if opener.startswith("</"):
        return
    text = f"The {opener}{after}"
    assert _parts(text) == _parts(*text) == ParsedText(text, (), False)


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
def test_a11_prose_about_markup_survives(text: str) -> None:
    """Text that is not the dialect's grammar loses no letter, and a real leak behind it is found."""
    for parsed in (_parts(text), _parts(*text)):
        assert parsed == ParsedText(text, (), False)
    parsed = _parts(*(text + "\n" + CALLED))
    assert (parsed.text, _found(parsed)) == (text + "\n", [RAIN])


@pytest.mark.parametrize(("before", "text"), [("it is ", "So it is after"), ("it is", "So it is after")])
def test_a11_white_space_on_both_sides_of_a_leak_is_one(before: str, text: str) -> None:
    """That before it stays, also where it came in a piece that nothing was looked for in."""
    assert _parts("So ", before, CALLED, " after").text == text


def test_a11_an_opener_without_its_grammar_is_given_back_at_once() -> None:
    """Prose waits only until it cannot be markup, not for the end of the answer."""
    leaks = LeakFilter(SCHEMAS)
    assert leaks.feed("the <tool_call>") == "the "
    assert leaks.feed(" tag is") == "<tool_call> tag is"


@pytest.mark.parametrize("call", [("now", "{}"), ("nobody", None)])
def test_a11_a_lone_word_is_a_call_only_of_a_tool_that_was_offered(call: tuple[str, str | None]) -> None:
    """GLM writes a call without arguments as a word between tags, and so does prose."""
    name, arguments = call
    parsed = _parts(f"<tool_call>{name}</tool_call>")
    assert [found.arguments for found in parsed.calls] == ([arguments] if arguments else [])


def test_a11_a_broken_json_text_is_a_call_with_broken_arguments() -> None:
    """A model that forgot to escape a quote is told so, as with any other call (quirk A10)."""
    parsed = _parts('<tool_call>{"name": "search", "arguments": {"q": "say "hi" now"}}</tool_call>')
    assert [(call.name, call.status) for call in parsed.calls] == [("search", ArgumentStatus.INVALID)]
    assert parsed.calls[0].arguments == '{"q": "say "hi" now"}'


def test_a11_without_schemas_a_value_is_a_text() -> None:
    """`5` is a number only where a schema says so."""
    parsed = parse_leak("<tool_call><function=search><parameter=n>5</parameter></function></tool_call>")
    assert _found(parsed) == [("search", {"n": "5"})]


@pytest.mark.parametrize("value", ["five", "5 apples", "1e999", "{'a': 1}", "", "[1"])
def test_a11_a_value_that_is_not_what_the_schema_wants_stays_a_text(value: str) -> None:
    """Nothing is guessed: the schema check tells the model what is wrong."""
    parsed = _parts(f"<function=search><parameter=n>{value}</parameter></function>")
    assert _found(parsed) == [("search", {"n": value})]


def test_a11_a_text_is_a_text_where_the_schema_or_the_dialect_says_so() -> None:
    """A type that may be a string is one; DSML's own word goes before the schema's."""
    parsed = _parts("<function=search><parameter=any>5</parameter></function>")
    assert _found(parsed) == [("search", {"any": "5"})]
    marked = '<|DSML|invoke name="search"><|DSML|parameter name="n" string="true">5</|DSML|parameter></|DSML|invoke>'
    assert _found(_parts(marked)) == [("search", {"n": "5"})]


def test_a11_several_leaks_keep_their_order_and_duplicates_are_all_told() -> None:
    """Whether a call is a copy of another one is not decided here."""
    glm = LEAKS["glm, no line breaks"][0]
    parsed = _parts(f"a {CALLED} b {glm} c {CALLED}")
    assert (parsed.text, _found(parsed)) == ("a b c ", [RAIN, RAIN, RAIN])


@pytest.mark.parametrize("step", [1, 7, 10_000, 1_000_000])
def test_a11_a_leak_without_end_is_hidden_and_not_kept(step: int) -> None:
    """Beyond a bound nothing is gathered and no call is made; where its end is, the text goes on."""
    text = f"a <tool_call>search<arg_key>q</arg_key><arg_value>{'x' * MAX_LENGTH}</arg_value></tool_call> b {CALLED}"
    leaks = LeakFilter(SCHEMAS)
    shown = "".join([leaks.feed(text[at : at + step]) for at in range(0, len(text), step)]) + leaks.close()
    assert (shown, [call.value for call in leaks.leaked], leaks.has_markup) == ("a b ", [{"q": "rain"}], True)


@pytest.mark.parametrize("opener", ["<function=search><parameter=q>", '<tool_call>{"name": "'])
def test_a11_memory_stays_small_however_long_a_leak_is(opener: str) -> None:
    """Two megabytes of a leak that nothing closes leave less than twice the bound behind."""
    leaks = LeakFilter(SCHEMAS)
    assert leaks.feed(opener) == ""
    tracemalloc.start()
    try:
        for place in range(200):
            assert leaks.feed(f"{place % 10}" * 10_000) == ""
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2 * MAX_LENGTH
    assert (leaks.close(), leaks.leaked, leaks.has_markup) == ("", [], True)


def test_a11_a_long_leak_is_found_below_the_bound() -> None:
    """The bound is not a little one."""
    long = "x" * (MAX_LENGTH - 200)
    assert _found(_parts(f"<function=search><parameter=q>{long}</parameter></function>")) == [("search", {"q": long})]


ORDINARY = [
    "<",
    "[",
    "a < b",
    "<div>",
    "List<T>",
    "[T",
    "[TOOL_C",
    "<tool_",
    "<|",
    "<｜tool▁",
    "< ",
    "</",
    "`",
    "```",
    "~~~",
]
ORDINARY += ["\n", " ", "x", "\\", "<function", "<invoke", "DSML", "<minimax:", "[link](url)", "a[0]", "1. "]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(ORDINARY), max_size=25))
def test_a11_ordinary_text_is_held_no_longer_than_an_opener(pieces: list[str]) -> None:
    """After each letter all but the beginning of an opener has left, in order and unchanged."""
    text = "".join(pieces)
    assert "".join(LeakFilter(SCHEMAS).feed_all(pieces)) == "".join(map(LeakFilter(SCHEMAS).feed, [text]))
    leaks, shown = LeakFilter(SCHEMAS), ""
    for place, letter in enumerate(text):
        shown += leaks.feed(letter)
        assert len(shown) + leaks.held == place + 1
        assert leaks.held < LONGEST_OPENER
        assert leaks.held == 0 or text[len(shown)] in "<["
    assert shown + leaks.close() == text
    assert not leaks.has_markup


MARKS = [
    "<tool_call>",
    "</tool_call>",
    "<function=search>",
    "</function>",
    "<parameter=q>",
    "</parameter>",
    "search",
    "\n",
]
MARKS += [
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "[TOOL_CALLS]",
    "{",
    '"name":',
    '"search"',
    "}",
    "`",
    " ",
]
MARKS += [
    "<｜DSML｜tool_calls>",
    '<｜DSML｜invoke name="search">',
    "</｜DSML｜invoke>",
    CALL,
    "<|tool_sep|>",
    "```",
    "\\",
    "x",
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(MARKS), max_size=16), st.data())
def test_a11_no_split_changes_anything_whatever_the_marks(pieces: list[str], data: st.DataObject) -> None:
    """Any jumble of marks gives the same text, calls and verdict, whole, letter by letter and cut anywhere."""
    text = "".join(pieces)
    cut = data.draw(st.integers(0, len(text)))
    whole = _parts(text)
    assert _parts(*text) == whole
    assert _parts(text[:cut], text[cut:]) == whole
    if not whole.has_markup:
        assert whole.text == text


@pytest.mark.parametrize(
    "unit", ["<", "<tool_call>", "<tool_call>\n", "<function_calls><invoke name=", "```\n", "[TOOL_CALLS]a"]
)
def test_a11_the_cost_grows_with_the_length_alone(unit: str) -> None:
    """A megabyte of openers that open nothing passes in a moment; it took minutes when each was looked for twice."""
    text = unit * (1_000_000 // len(unit) if unit == "<" else 200_000 // len(unit))
    assert parse_leak(text, SCHEMAS).text == text
    assert _parts(*text[:20_000]).text == text[:20_000]


def test_a11_calls_are_as_the_wire_would_have_told_them() -> None:
    """A leaked call has a text of arguments, what it parses to, and no id."""
    (call,) = _parts(LEAKS["glm"][0]).calls
    assert (call.id, call.status, json.loads(call.arguments)) == (None, ArgumentStatus.OK, call.value)
