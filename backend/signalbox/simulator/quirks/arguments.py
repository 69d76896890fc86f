"""Arguments that are repeated, truncated, invalid, empty or wrapped (A6-A10)."""

from collections.abc import Callable
from dataclasses import replace

import orjson

from ..completion import Completion
from ..families import Family
from ..faults.steps import answer, asking, is_first, search, topic
from ..http.incoming import Incoming
from ..model.turns import Call, Finish, Turn
from .quirk import ChangeCompletion, MakeTurn, Quirk, first_step

Change = Callable[[Incoming, Call], str]
LONGEST_ANSWER = 16_384


def text(call: Call) -> str:
    """Return the correct arguments of a call as JSON."""
    return call.written(compact=True)


def _raw(change: Change, *, finish: Finish | None = None) -> MakeTurn:
    """Call one search with changed arguments."""

    def turn(incoming: Incoming, family: Family) -> Turn:
        if not is_first(incoming):
            return answer(incoming)
        call = search(incoming, topic(incoming))
        return replace(asking(incoming, replace(call, raw=change(incoming, call))), finish=finish)

    return turn


def _clock(incoming: Incoming) -> list[Call]:
    """Call the clock, or else a tool without required arguments, with empty arguments."""
    free = next((tool for tool in incoming.tools if not tool.required), None)
    tool = incoming.tool("time", "clock") or free
    return [Call(tool.name if tool else "get_current_time", raw="")]


def _second(incoming: Incoming) -> str:
    return text(search(incoming, f"{topic(incoming)} example"))


def _cut_in_a_brace(incoming: Incoming, call: Call) -> str:
    """Truncate arguments after a closing brace inside a string, so that the braces are balanced."""
    other = search(incoming, f"{topic(incoming)} }}")
    written = text(other)
    return written[: written.index("}") + 1]


def _report_all_tokens(incoming: Incoming, completion: Completion) -> Completion:
    """Report max_tokens as used, which is the only sign that the call was truncated."""
    if not completion.calls:
        return completion
    most = incoming.max_tokens or LONGEST_ANSWER
    usage = {**completion.usage, "completion_tokens": most, "total_tokens": completion.usage["prompt_tokens"] + most}
    return replace(completion, usage=usage)


def _quirk(change: Change, *, finish: Finish | None = None, completion: ChangeCompletion | None = None) -> Quirk:
    return Quirk(turn=_raw(change, finish=finish), completion=completion)


def _written(raw: str) -> Change:
    return lambda _incoming, _call: raw


def _escaped(letters: str, written: str) -> str:
    return "".join(f"\\{letter}" if letter in letters else letter for letter in written)


QUIRKS: dict[str, Quirk] = {
    "a06-twice": _quirk(lambda _, call: text(call) * 2),
    "a06-split": _quirk(lambda incoming, call: text(call) + _second(incoming)),
    "a06-tail": _quirk(lambda _, call: text(call) + text(call)[:-4]),
    "a06-leading": _quirk(lambda _, call: "{}" + text(call)),
    "a07": _quirk(lambda _, call: text(call)[:-4], finish="tool_calls"),
    "a07-length": _quirk(lambda _, call: text(call)[:-4], finish="length"),
    "a07-tokens": _quirk(_cut_in_a_brace, finish="tool_calls", completion=_report_all_tokens),
    "a07-parses": _quirk(_written("{}"), finish="length"),
    "a08": _quirk(lambda incoming, _: f"{{query: '{topic(incoming)}', }}"),
    "a09": Quirk(turn=first_step(_clock)),
    "a09-required": _quirk(_written("")),
    "a10-double": _quirk(lambda _, call: orjson.dumps(text(call)).decode()),
    "a10-brace": _quirk(lambda _, call: text(call) + "}"),
    "a10-prose": _quirk(lambda _, call: text(call) + "\n\nI will search for that now."),
    "a10-escaped": _quirk(lambda _, call: _escaped('"', text(call))),
    "a10-newline": _quirk(lambda _, call: text(call).replace("{", "{\\n  ", 1)),
    "a10-quote": _quirk(lambda incoming, _: f'{{"query":"the "{topic(incoming)}" page"}}'),
    "a10-garbage": _quirk(lambda incoming, _: f"<<search>> for {topic(incoming)}, please ]]"),
}
