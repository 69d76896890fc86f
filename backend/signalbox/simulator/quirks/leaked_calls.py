"""Calls that are leaked as text, in the markup of eight families' chat templates (A11)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson

from ..families import Family
from ..faults.steps import answer, asking, is_first, one_search, search, topic
from ..http.incoming import Incoming
from ..model.turns import Call, Turn
from .quirk import MakeTurn, Quirk, letter_by_letter

Markup = Callable[[Call], str]
PREAMBLE = "Let me check that.\n\n"
QUOTED_LEAKS = "A leaked call looks like this:\n\n```xml\n{markup}\n```\n\nNone of it was executed."


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _values(call: Call) -> list[tuple[str, str]]:
    return [(name, value if isinstance(value, str) else _json(value)) for name, value in call.arguments.items()]


def _dsml(call: Call, section: str = "tool_calls") -> str:
    """DeepSeek V3.2 and V4, with fullwidth bars (antirez/ds4#167)."""
    bar = "｜DSML｜"
    fields = [f'<{bar}parameter name="{name}" string="true">{value}</{bar}parameter>' for name, value in _values(call)]
    body = "\n".join([f'<{bar}invoke name="{call.name}">', *fields, f"</{bar}invoke>"])
    return f"<{bar}{section}>\n{body}\n</{bar}{section}>"


def _deepseek(call: Call) -> str:
    """DeepSeek V3 and V3.1: special tokens."""
    begin, end = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>", "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    return f"{begin}{call.name}<｜tool▁sep｜>{_json(call.arguments)}{end}"


def _kimi(call: Call) -> str:
    begin, end = "<|tool_calls_section_begin|><|tool_call_begin|>", "<|tool_call_end|><|tool_calls_section_end|>"
    return f"{begin}functions.{call.name}:0<|tool_call_argument_begin|>{_json(call.arguments)}{end}"


def _kimi_k3(call: Call) -> str:
    """Another markup of Kimi (can1357/oh-my-pi#8495)."""
    fields = [
        f'<|open|>argument key="{name}" type="string"<|sep|>{value}<|close|>argument<|sep|>'
        for name, value in _values(call)
    ]
    return f'<|open|>toolscall tool="{call.name}" index="1"<|sep|>{"".join(fields)}<|close|>call<|sep|>'


def _glm(call: Call) -> str:
    fields = [f"<arg_key>{name}</arg_key>\n<arg_value>{value}</arg_value>" for name, value in _values(call)]
    return "\n".join([f"<tool_call>{call.name}", *fields, "</tool_call>"])


def _hermes(call: Call) -> str:
    return f"<tool_call>\n{_json({'name': call.name, 'arguments': call.arguments})}\n</tool_call>"


def _mimo(call: Call) -> str:
    """MiMo and Qwen's coding models."""
    fields = [f"<parameter={name}>\n{value}\n</parameter>" for name, value in _values(call)]
    return "\n".join(["<tool_call>", f"<function={call.name}>", *fields, "</function>", "</tool_call>"])


def _anthropic(call: Call) -> str:
    fields = [f'<parameter name="{name}">{value}</parameter>' for name, value in _values(call)]
    invoke = "\n".join([f'<invoke name="{call.name}">', *fields, "</invoke>"])
    return f"<function_calls>\n{invoke}\n</function_calls>"


def _mistral(call: Call) -> str:
    return f"[TOOL_CALLS][{_json({'name': call.name, 'arguments': call.arguments})}]"


def _mistral_args(call: Call) -> str:
    return f"[TOOL_CALLS]{call.name}[ARGS]{_json(call.arguments)}"


MARKUPS: dict[str, Markup] = {
    "dsml": _dsml,
    "dsml-v32": lambda call: _dsml(call, "function_calls"),
    "deepseek": _deepseek,
    "kimi": _kimi,
    "kimi-k3": _kimi_k3,
    "glm": _glm,
    "hermes": _hermes,
    "mimo": _mimo,
    "anthropic": _anthropic,
    "mistral": _mistral,
    "mistral-args": _mistral_args,
}


# ---- the turns


def _leak(markup: Markup, before: str = "", after: str = "") -> MakeTurn:
    """Write the call as text in the first step."""

    def turn(incoming: Incoming, family: Family) -> Turn:
        if not is_first(incoming):
            return answer(incoming)
        return _call_as_text(incoming, before + markup(one_search(incoming)[0]) + after)

    return turn


def _call_as_text(incoming: Incoming, text: str) -> Turn:
    return replace(asking(incoming, *one_search(incoming)), text=text, calls=())


def _twice(incoming: Incoming, family: Family) -> Turn:
    """Write the call as text, and send it as a call too (lidge-jun/opencodex#5499)."""
    if not is_first(incoming):
        return answer(incoming)
    return asking(incoming, *one_search(incoming), text=PREAMBLE + _hermes(one_search(incoming)[0]))


def _in_code_block(incoming: Incoming, family: Family) -> Turn:
    call = Call("search_web", {"query": "the tool loop"})
    return replace(answer(incoming), text=QUOTED_LEAKS.format(markup=_hermes(call) + "\n" + _dsml(call)))


def _unknown(incoming: Incoming, family: Family) -> Turn:
    if not is_first(incoming):
        return answer(incoming)
    return _call_as_text(incoming, _dsml(Call("lookup_everything", {"query": topic(incoming)})))


def _in_reasoning(incoming: Incoming, family: Family) -> Turn:
    """Write the call in the reasoning, without an answer (Kilo-Org/kilocode#5750)."""
    if not is_first(incoming):
        return answer(incoming)
    asked = asking(incoming, *one_search(incoming))
    return Turn("", f"{asked.reasoning}\n{_hermes(one_search(incoming)[0])}")


def _in_finalize(before: str) -> MakeTurn:
    """Search while calls are allowed, then write a call as text."""

    def turn(incoming: Incoming, family: Family) -> Turn:
        call = search(incoming, f"{topic(incoming)} {len(incoming.messages)}")
        return asking(incoming, call) if incoming.may_call else Turn(before + _dsml(call))

    return turn


def _unclosed(call: Call) -> str:
    """Omit or break the closing tags (opencode#50206)."""
    whole = _dsml(call)
    return whole[: whole.rindex("</｜DSML｜parameter>")] + "</｜DSML｜parameter"


QUIRKS: dict[str, Quirk] = {
    **{f"a11-{name}": Quirk(turn=_leak(markup)) for name, markup in MARKUPS.items()},
    **{
        f"a11-{name}-split": Quirk(turn=_leak(markup, PREAMBLE, "\n"), stream=letter_by_letter)
        for name, markup in MARKUPS.items()
    },
    "a11-two": Quirk(turn=_leak(lambda call: _hermes(call) + "\n" + _hermes(Call(call.name, {"query": "simulator"})))),
    "a11-unclosed": Quirk(turn=_leak(_unclosed)),
    "a11-duplicate": Quirk(turn=_twice),
    "a11-fence": Quirk(turn=_in_code_block),
    "a11-fence-split": Quirk(turn=_in_code_block, stream=letter_by_letter),
    "a11-unknown": Quirk(turn=_unknown, transient=True),
    "a11-unknown-always": Quirk(turn=_unknown),
    "a11-reasoning": Quirk(turn=_in_reasoning),
    "a11-finalize": Quirk(turn=_in_finalize("Here is what I know so far.\n\n")),
    "a11-finalize-bare": Quirk(turn=_in_finalize("")),
}
