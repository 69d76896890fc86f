"""Leaked calls in every dialect, and the calls that they contain."""

from typing import Any

from signalbox.chat.leaks import LeakFilter, ParsedText
from signalbox.core.messages import JsonObject

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


def dsml(begin: str, end: str) -> str:
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
    "dsml": (dsml("<｜DSML｜", "</｜DSML｜"), [RAIN, SUN]),
    "dsml, doubled bars": (dsml("<｜｜DSML｜｜", "</｜｜DSML｜｜"), [RAIN, SUN]),
    "dsml, ascii bars": (dsml("<|DSML|", "</|DSML|"), [RAIN, SUN]),
    "dsml, other bars": (dsml("<‖DSML‖", "</‖DSML‖"), [RAIN, SUN]),
    "dsml, spaced bars": (dsml("< | DSML | ", "</ | DSML | "), [RAIN, SUN]),
    "dsml, spaced doubled bars": (dsml("< | DSML | | ", "< / | DSML | | "), [RAIN, SUN]),
    "dsml, closers without bars": (dsml("<｜DSML｜", "</"), [RAIN, SUN]),
    "dsml in the closers alone": (dsml("<", "</｜DSML｜"), [RAIN, SUN]),
    "dsml, block of v3.2": (dsml("<｜DSML｜", "</｜DSML｜").replace("tool_calls", "function_calls"), [RAIN, SUN]),
    "dsml, no block": ("\n".join(dsml("<｜DSML｜", "</｜DSML｜").splitlines()[1:-1]), [RAIN, SUN]),
    "dsml, types": (
        (
            '<｜DSML｜invoke name=“other”><｜DSML｜parameter name="a" string="true">5</｜DSML｜parameter>'
            '<｜DSML｜parameter name="b" string="false">5</｜DSML｜parameter></｜DSML｜invoke>'
        ),
        [("other", {"a": "5", "b": 5})],
    ),
    "dsml, last call closed by the block": (
        dsml("<｜DSML｜", "</｜DSML｜").replace("</｜DSML｜invoke>\n</｜DSML｜tool", "</｜DSML｜tool"),
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


def found_in(parsed: ParsedText) -> list[tuple[str, Any]]:
    """Return the names and values of the calls found."""
    return [(call.name, call.value) for call in parsed.calls]


def parse_cut(*pieces: str, schemas: dict[str, JsonObject] = SCHEMAS) -> ParsedText:
    """Filter a text in these pieces, one by one and together; both must give the same."""
    leaks, together = LeakFilter(schemas), LeakFilter(schemas)
    text = "".join([leaks.feed(piece) for piece in pieces]) + leaks.close()
    assert "".join(together.feed_all(list(pieces))) + together.close() == text
    assert (together.leaked, together.has_markup) == (leaks.leaked, leaks.has_markup)
    return ParsedText(text, tuple(leaks.leaked), leaks.has_markup)


CALLED = LEAKS["hermes"][0]


INLINE = CALLED.replace("\n", "")
