"""Tool calls that a provider leaked into the answer's text, in any dialect, found while it streams (quirk A11)."""

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
    """Write two calls as DeepSeek does, with these prefixes of its tags."""
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
    "hermes, unknown name": ('<tool_call>{"name": "unknown", "arguments": {}}</tool_call>', [("unknown", {})]),
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
    """The calls are in order and typed by the schema; text before and after them is complete."""
    leak, calls = LEAKS[dialect]
    parsed = _parts(f"Let me look.\n\n{leak}\n\nDone: 1 < 2.")
    assert (parsed.text, _found(parsed), parsed.has_markup) == ("Let me look.\n\nDone: 1 < 2.", calls, True)


@pytest.mark.parametrize("dialect", LEAKS)
def test_a11_no_split_changes_what_is_found(dialect: str) -> None:
    """Cutting the text in two anywhere, or into single letters, gives the same result."""
    text = f"Let me `look`:\n{LEAKS[dialect][0]} Done\n<b>"
    whole = _parts(text)
    assert _parts(*text) == whole
    for cut in range(1, len(text)):
        assert _parts(text[:cut], text[cut:]) == whole, text[:cut]


@pytest.mark.parametrize("dialect", LEAKS)
def test_a11_a_truncated_leak_adds_no_other_call(dialect: str) -> None:
    """A truncated leak gives only its complete calls; text before it stays."""
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
def test_a11_a_code_block_is_unchanged(dialect: str, before: str, after: str) -> None:
    """The same text in a code block stays, and the text after the block is searched again."""
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
        f"```{INLINE}``` is not a code block",
        f"``` `\n{INLINE}```",
        f"> ```\n> {INLINE}\n",
        f"~~~ `x`\n{INLINE}\n~~~",
        f"```\n{INLINE}\n``` no end\n{INLINE}\n",
        f"```\n{INLINE}\n~~~\n{INLINE}\n``\n{INLINE}",
        f"\\{INLINE}",
    ],
)
def test_a11_code_of_every_form_is_unchanged(text: str) -> None:
    """Code spans and code fences follow CommonMark, however the text is cut."""
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
        "``` ` is no block\n\n",
        "an escaped \\` mark ",
        "\\\\",
        "```not a block``` ",
        "~~struck~~ ",
        "x ~~~ y\n",
    ],
)
def test_a11_a_leak_after_code_is_found(text: str) -> None:
    """Code that has ended, and marks that do not begin code, hide no leak."""
    for parsed in (_parts(text + CALLED), _parts(*text, *CALLED)):
        assert (parsed.text, _found(parsed)) == (text, [RAIN])


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize(
    "after", ["", " ", " tag is used by Hermes.", "</b>", ", and", "\n\nand so on\n", "x y", "JSON."]
)
def test_a11_an_opener_in_prose_is_prose(opener: str, after: str) -> None:
    """Text that only mentions an opener stays complete; DSML's closing tags are never prose."""
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
def test_a11_prose_about_markup_stays(text: str) -> None:
    """Text that is not valid in the dialect stays complete, and a leak after it is found."""
    for parsed in (_parts(text), _parts(*text)):
        assert parsed == ParsedText(text, (), False)
    parsed = _parts(*(text + "\n" + CALLED))
    assert (parsed.text, _found(parsed)) == (text + "\n", [RAIN])


@pytest.mark.parametrize(("before", "text"), [("it is ", "So it is after"), ("it is", "So it is after")])
def test_a11_white_space_around_a_leak_is_merged(before: str, text: str) -> None:
    """White space before the leak stays, also if it arrived in a piece that needed no search."""
    assert _parts("So ", before, CALLED, " after").text == text


def test_a11_prose_is_released_as_soon_as_it_is_certain() -> None:
    """Prose is held back only until it cannot be markup, not to the end of the answer."""
    leaks = LeakFilter(SCHEMAS)
    assert leaks.feed("the <tool_call>") == "the "
    assert leaks.feed(" tag is") == "<tool_call> tag is"


@pytest.mark.parametrize("call", [("now", "{}"), ("unknown", None)])
def test_a11_a_lone_word_is_a_call_only_of_an_offered_tool(call: tuple[str, str | None]) -> None:
    """GLM writes a call without arguments as a word between tags; prose can look the same."""
    name, arguments = call
    parsed = _parts(f"<tool_call>{name}</tool_call>")
    assert [found.arguments for found in parsed.calls] == ([arguments] if arguments else [])


def test_a11_invalid_json_is_a_call_with_invalid_arguments() -> None:
    """A model that forgot to escape a quote gets an error, as for any other call (quirk A10)."""
    parsed = _parts('<tool_call>{"name": "search", "arguments": {"q": "say "hi" now"}}</tool_call>')
    assert [(call.name, call.status) for call in parsed.calls] == [("search", ArgumentStatus.INVALID)]
    assert parsed.calls[0].arguments == '{"q": "say "hi" now"}'


def test_a11_without_a_schema_a_value_is_text() -> None:
    """`5` is a number only if a schema says so."""
    parsed = parse_leak("<tool_call><function=search><parameter=n>5</parameter></function></tool_call>")
    assert _found(parsed) == [("search", {"n": "5"})]


@pytest.mark.parametrize("value", ["five", "5 apples", "1e999", "{'a': 1}", "", "[1"])
def test_a11_a_value_of_another_type_stays_text(value: str) -> None:
    """The schema check then tells the model what is wrong."""
    parsed = _parts(f"<function=search><parameter=n>{value}</parameter></function>")
    assert _found(parsed) == [("search", {"n": value})]


def test_a11_schema_and_dialect_decide_what_is_text() -> None:
    """A type that may be a string is one; DSML's own mark has priority over the schema."""
    parsed = _parts("<function=search><parameter=any>5</parameter></function>")
    assert _found(parsed) == [("search", {"any": "5"})]
    marked = '<|DSML|invoke name="search"><|DSML|parameter name="n" string="true">5</|DSML|parameter></|DSML|invoke>'
    assert _found(_parts(marked)) == [("search", {"n": "5"})]


def test_a11_several_leaks_keep_their_order() -> None:
    """Duplicates are all returned; the caller decides about them."""
    glm = LEAKS["glm, no line breaks"][0]
    parsed = _parts(f"a {CALLED} b {glm} c {CALLED}")
    assert (parsed.text, _found(parsed)) == ("a b c ", [RAIN, RAIN, RAIN])


@pytest.mark.parametrize("step", [1, 7, 10_000, 1_000_000])
def test_a11_an_endless_leak_is_removed_and_not_stored(step: int) -> None:
    """Beyond a limit nothing is stored and no call is made; after its end, the text continues."""
    text = f"a <tool_call>search<arg_key>q</arg_key><arg_value>{'x' * MAX_LENGTH}</arg_value></tool_call> b {CALLED}"
    leaks = LeakFilter(SCHEMAS)
    shown = "".join([leaks.feed(text[at : at + step]) for at in range(0, len(text), step)]) + leaks.close()
    assert (shown, [call.value for call in leaks.leaked], leaks.has_markup) == ("a b ", [{"q": "rain"}], True)


@pytest.mark.parametrize("opener", ["<function=search><parameter=q>", '<tool_call>{"name": "'])
def test_a11_a_long_leak_takes_limited_memory(opener: str) -> None:
    """Two megabytes of an unclosed leak leave less than twice the limit in memory."""
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


def test_a11_a_long_leak_below_the_limit_is_found() -> None:
    """The limit allows long calls."""
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
def test_a11_at_most_an_opener_is_held_back(pieces: list[str]) -> None:
    """After each letter, everything except a possible opener has been returned in order."""
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
def test_a11_no_split_of_any_marks_changes_the_result(pieces: list[str], data: st.DataObject) -> None:
    """Any sequence of marks gives the same text and calls: whole, letter by letter, or cut anywhere."""
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
def test_a11_the_cost_is_linear(unit: str) -> None:
    """A megabyte of openers without calls is processed in linear time."""
    text = unit * (1_000_000 // len(unit) if unit == "<" else 200_000 // len(unit))
    assert parse_leak(text, SCHEMAS).text == text
    assert _parts(*text[:20_000]).text == text[:20_000]


def test_a11_leaked_calls_look_like_decoded_ones() -> None:
    """A leaked call has a text of arguments, its parsed value, and no id."""
    (call,) = _parts(LEAKS["glm"][0]).calls
    assert (call.id, call.status, json.loads(call.arguments)) == (None, ArgumentStatus.OK, call.value)
