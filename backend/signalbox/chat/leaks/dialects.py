"""The dialects in which models write tool calls, and the table of their openers.

Each is a generator that yields the elements that it reads (see `elements`). It marks the text as certain as soon as it
cannot be prose. It adds a call only after the call's end, because a call that was cut off must not run.
"""

import re
from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import TypeAlias

from signalbox.chat.leaks.elements import Attributes, Element, Json, MismatchError, Name, Next, Reader, Until
from signalbox.chat.leaks.leak import Leak
from signalbox.chat.leaks.values import Value

Dialect: TypeAlias = Callable[[Leak, str], Reader]
_MarkReader: TypeAlias = Generator[Element, str, str]

_CALL_END = "</tool_call>"
_ATTRIBUTE = re.compile(r"""(\w+)\s*=\s*["'“”]([^"'“”]*)["'“”]""")
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)

# --- JSON: Hermes and Qwen (<tool_call>), Mistral ([TOOL_CALLS]), Llama (<|python_tag|>) ------------------------------


def _json_calls(leak: Leak, begun: str, *ends: str) -> Reader:
    """Read one object, a list of objects, or consecutive objects: `{"name": …, "arguments": {…}}`."""
    while begun in ("{", "["):
        begun += (yield Next("{")) if begun == "[" else ""
        begun += yield Next('"')
        leak.be_certain()
        leak.call_in((yield Json(begun)))
        begun = (yield Next("{", *ends, optional=True)) if ends else ""


def _mistral(leak: Leak, opener: str) -> Reader:
    """Read `[TOOL_CALLS][{…}]`, or `[TOOL_CALLS]name{…}`, in later versions with marks before the arguments."""
    if begun := (yield Next("[", optional=True)):
        yield from _json_calls(leak, begun)
        return
    head = Name("{", "[ARGS]", "[CALL_ID]")
    name = yield head
    if head.mark == "[CALL_ID]":
        yield Name("[ARGS]")
    if head.mark != "{":
        yield Next("{")
    leak.be_certain()
    leak.call(name, (yield Json("{")))


def _python_tag(leak: Leak, opener: str) -> Reader:
    yield from _json_calls(leak, (yield Next("{")), "<|eom_id|>", "<|eot_id|>")


# --- <tool_call>: Hermes, Qwen, MiMo, Step, GLM -----------------------------------------------------------------------


def _tool_call(leak: Leak, opener: str) -> Reader:
    """Read one of the three dialects that begin with this tag; the text after it shows which."""
    match (yield Next("{", "[", "<function=", "<invoke name=", optional=True)):
        case "<function=":
            yield from _function(leak, opener)
        case "<invoke name=":
            yield from _invokes("", leak, "<invoke name=")
        case "":
            yield from _glm(leak)
        case begun:
            yield from _json_calls(leak, begun, _CALL_END)


def _glm(leak: Leak) -> Reader:
    """Read `name`, then pairs of `<arg_key>` and `<arg_value>`; a lone word is a call only if it names a tool."""
    head = Name("\n", "<arg_key>", _CALL_END)
    name = yield head
    mark = (yield Next("<arg_key>", _CALL_END)) if head.mark == "\n" else head.mark
    if mark == _CALL_END and not leak.knows(name):
        raise MismatchError
    leak.be_certain()
    values: list[Value] = []
    while mark == "<arg_key>":
        key = yield Until("</arg_key>")
        yield Next("<arg_value>")
        values.append(Value(key.strip(), (yield Until("</arg_value>"))))
        mark = yield Next("<arg_key>", _CALL_END, optional=True)
    if mark:
        leak.call_of(name, values)


def _function(leak: Leak, opener: str) -> Reader:
    """Read `<function=name>`, with `<parameter=key>` for each argument, or with JSON."""
    name = yield Name(">")
    if leak.knows(name):
        leak.be_certain()
    mark = yield Next("<parameter=", "</function>", "{", optional=True)
    if not mark:  # MiMo sometimes omits the parameter's tag (lidge-jun/opencodex#5499): removed, but no call
        yield from _unreadable(leak, "</function>")
    elif mark == "{":
        leak.be_certain()
        leak.call(name, (yield Json("{")))
        yield Next("</function>", optional=True)
    else:
        leak.be_certain()
        yield from _parameters(leak, name, mark)
    yield Next(_CALL_END, optional=True)


def _unreadable(leak: Leak, end: str) -> Reader:
    if not leak.certain:
        raise MismatchError
    yield Until(end)


def _parameters(leak: Leak, name: str, mark: str) -> Reader:
    values: list[Value] = []
    while mark == "<parameter=":
        key = yield Name(">")
        values.append(Value(key, _without_line_breaks((yield Until("</parameter>")))))
        mark = yield Next("<parameter=", "</function>", optional=True)
    if mark:
        leak.call_of(name, values)


def _without_line_breaks(text: str) -> str:
    """Remove one line break on each side of a value."""
    return text.removeprefix("\n").removesuffix("\n")


# --- invoke and parameter: DeepSeek V3.2 and V4 (DSML), MiniMax, Claude -----------------------------------------------

_DSML = "|DSML|"
_PREFIXES = ("", _DSML, "minimax:", "antml:")
_BLOCKS = ("function_calls", "tool_calls", "tool_call")


def _closers(prefix: str, *names: str) -> tuple[str, ...]:
    """Return the closing tags, including those that DeepSeek corrupts: with or without its bars (opencrabs#419)."""
    return tuple(f"</{p}{name}>" for name in names for p in dict.fromkeys((prefix, "", _DSML)))


def _tags(prefix: str, tag: str) -> tuple[str, ...]:
    """Return the opening tags; MiniMax prefixes only the tag of the block."""
    return tuple(f"<{p}{tag} name=" for p in dict.fromkeys((prefix, "")))


def _invokes(prefix: str, leak: Leak, opener: str) -> Reader:
    """Read calls, with or without a block around them; a call that is not closed before the next one is left out."""
    invokes = _tags(prefix, "invoke")
    mark = opener if opener in invokes else (yield Next(*invokes))
    while mark in invokes:
        name, _ = _named((yield Attributes(">")))
        if leak.knows(name):
            leak.be_certain()
        mark = yield from _invoke(prefix, leak, name)
        if mark in _closers(prefix, "invoke"):
            mark = yield Next(*invokes, *_closers(prefix, *_BLOCKS), optional=True)


def _invoke(prefix: str, leak: Leak, name: str) -> _MarkReader:
    """Read one call and return the mark that ended it."""
    invokes, parameters = _tags(prefix, "invoke"), _tags(prefix, "parameter")
    ends = (*_closers(prefix, "invoke"), *_closers(prefix, *_BLOCKS))
    values: list[Value] = []
    while (mark := (yield Next(*parameters, *invokes, *ends))) in parameters:
        leak.be_certain()
        key, attributes = _named((yield Attributes(">")))
        text = yield Until(*_closers(prefix, "parameter"))
        is_text = {"true": True, "false": False}.get(attributes.get("string", ""))
        values.append(Value(key, text, is_text))
    leak.be_certain()
    if mark not in invokes:
        leak.call_of(name, values)
    return mark


def _named(rest: str) -> tuple[str, dict[str, str]]:
    """Return a tag's name and its attributes; `name=` itself was part of the mark."""
    attributes = dict(_ATTRIBUTE.findall("name=" + rest))
    if not attributes.get("name"):
        raise MismatchError
    return attributes["name"], attributes


def _orphan(leak: Leak, opener: str) -> Reader:
    """Read a closing tag of DSML without an opening tag (can1357/oh-my-pi#10558): neither prose nor a call."""
    leak.be_certain()
    yield from ()


# --- special tokens: DeepSeek V3, Kimi K2 -----------------------------------------------------------------------------

_TOKEN_CALL = "<|tool_call_begin|>"  # noqa: S105 (no password)
_SECTIONS = ("<|tool_calls_begin|>", "<|tool_calls_section_begin|>", "<|tool_call_section_begin|>")
_SECTION_ENDS = tuple(section.replace("begin", "end") for section in _SECTIONS)


def _tokens(leak: Leak, opener: str) -> Reader:
    """Read calls of a head (the name) and a body (the arguments); DeepSeek writes `function` and a JSON code fence."""
    mark = opener if opener == _TOKEN_CALL else (yield Next(_TOKEN_CALL))
    while mark == _TOKEN_CALL:
        head = yield Name("<|tool_sep|>", "<|tool_call_argument_begin|>")
        leak.be_certain()
        body = Until("<|tool_call_end|>", *_SECTION_ENDS)
        text = yield body
        if head == "function":
            head, _, text = text.strip().partition("\n")
        fenced = _FENCE.fullmatch(text.strip())
        leak.call(head, fenced[1] if fenced else text.strip())
        if body.mark != "<|tool_call_end|>":
            return
        mark = yield Next(_TOKEN_CALL, *_SECTION_ENDS, optional=True)


# --- Kimi K3 (can1357/oh-my-pi#8495) ----------------------------------------------------------------------------------

_K3_CALL, _K3_SEP = "<|open|>call tool=", "<|sep|>"


def _k3(leak: Leak, opener: str) -> Reader:
    """Read `<|open|>tag attributes<|sep|>…<|close|>tag<|sep|>`; single tokens may be missing."""
    mark = opener
    if opener != _K3_CALL:
        yield Next(_K3_SEP, optional=True)
        mark = yield Next(_K3_CALL, "call tool=")
    while mark in (_K3_CALL, "call tool="):
        name, _ = _named((yield Attributes(_K3_SEP)))
        leak.be_certain()
        yield from _k3_call(leak, name)
        mark = yield Next(_K3_CALL, "<|close|>tools<|sep|>", "<|close|>toolsmessage<|sep|>", optional=True)
    yield Next("<|close|>message<|sep|>", optional=True)


def _k3_call(leak: Leak, name: str) -> Reader:
    values: list[Value] = []
    argument, body, end = "<|open|>argument key=", "<|open|>json", "<|close|>call<|sep|>"
    while (mark := (yield Next(argument, body, end))) == argument:
        key, attributes = _named((yield Attributes(_K3_SEP)))
        text = yield Until("<|close|>argument<|sep|>", "argument<|sep|>")
        values.append(Value(key, text, attributes.get("type") == "string"))
    if mark == end:
        leak.call_of(name, values)
        return
    yield Attributes(_K3_SEP)
    text = yield Until("<|close|>json<|sep|>")
    yield Next(end)
    leak.call(name, text.strip())


# --- the table --------------------------------------------------------------------------------------------------------

OPENERS: Mapping[str, Dialect] = {
    "<tool_call>": _tool_call,
    "<function=": _function,
    "[TOOL_CALLS]": _mistral,
    "<|python_tag|>": _python_tag,
    "<|open|>tools": _k3,
    _K3_CALL: _k3,
    _TOKEN_CALL: _tokens,
    **dict.fromkeys(_SECTIONS, _tokens),
    **{
        f"<{prefix}{tag}": partial(_invokes, prefix)
        for prefix in _PREFIXES
        for tag in (*(f"{block}>" for block in _BLOCKS), "invoke name=")
        if (prefix, tag) != ("", "tool_call>")
    },
    **{f"</{_DSML}{name}>": _orphan for name in ("parameter", "invoke", *_BLOCKS)},
}
