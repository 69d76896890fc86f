"""Faults that a client requests by model id.

The id is `<family>/<fault>`, in any family:

| id | what happens |
|---|---|
| sim-error-N | HTTP N (400 401 402 403 404 408 413 422 429 500 502 503 529) with OpenRouter's error body |
| sim-json-error | HTTP 200 with a JSON error body, also for a stream request |
| sim-midstream-error | some text, then a chunk with a top-level `error` in the 200; whole: `choices[0].error` |
| sim-cut | the connection closes in the middle of the answer, without finish and `[DONE]` |
| sim-cut-N | the connection closes after byte N of the answer |
| sim-no-done | the complete answer with finish and usage, but without `[DONE]` |
| sim-drip | the answer in writes of a few bytes, which split frames anywhere |
| sim-cut-tool | the connection closes after complete calls, before their finish (Mistral: before the calls) |
| sim-eof | the stream ends cleanly in the middle of the answer, without finish and `[DONE]` |
| sim-done-only | nothing but `[DONE]`; whole: an empty body |
| sim-stall | a few chunks, then nothing until the client disconnects |
| sim-malformed | one data frame is not JSON; whole: the body is not JSON |
| sim-empty | finish `stop`, no content |
| sim-reasoning-only | reasoning, finish `stop`, no content |
| sim-length | finish `length` in the middle of the text |
| sim-length-document | a document, truncated by `length` in its code, its table and its list; can be continued |
| sim-length-repeat | the same, but a continuation repeats the last line, and opens the code block again |
| sim-length-empty | finish `length` while still reasoning, no content |
| sim-length-tool | truncated by length in the arguments of a call |
| sim-refusal | a refusal in `delta.refusal`, no content |
| sim-filter | some text, then finish `content_filter` |
| sim-searches-N | makes N different searches in one step |
| sim-steps-N | makes a different search in each of N steps |
| sim-duplicate | makes the same search three times in one step, with other case, spaces and quotes |
| sim-parallel | calls clock, calculator and search in one step |
| sim-bad-args | makes calls with arguments that are truncated, of a wrong type, and missing |
| sim-unknown-tool | calls a tool that is not offered |
| sim-same-id | makes two searches; every call has the id `call_0` |
| sim-late-stop | makes a search, but finish_reason is `stop` |
| sim-stubborn | makes a search in every step, even if tool_choice is none |
| sim-silent-finalize | makes a search in every step, and returns nothing if tool_choice is none |
| sim-long-N | an answer of N deltas or more (3000 if N is not given) |

`sim-quirk-ID` are the quirks of providers, which the docstring of `quirks` lists.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..catalog import row_of
from ..families import Family
from ..http.incoming import Incoming
from ..model.answer import rounds
from ..model.continuation import next_piece, remaining, repeated_start
from ..model.drawing import draw
from ..model.next_turn import decide
from ..model.plan import calculate_call, time_call
from ..model.turns import Call, Turn
from ..quirks import QUIRKS, quirk_named, quirk_of
from .steps import PARAGRAPH, answer, asking, is_first, search, topic

_ID = re.compile(r"^sim-(?P<name>[a-z-]+?)(?:-(?P<number>\d+))?(?::[a-z]+)?$")
# Ids of limits, which are not faults: see `rules/router.py`, `catalog.py` and `generations.py`.
_LIMITS = re.compile(r"sim-(?:context-\d+|afford-\d+|late-bill)")
ERROR_CODES = (400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 529)
WIRE_FAULTS = (
    "error", "json-error", "midstream-error", "cut", "cut-tool", "eof", "no-done", "done-only", "stall", "drip",
    "malformed",
)  # fmt: skip
PARAGRAPH_FAULTS = ("midstream-error", "cut", "eof", "stall", "malformed")
LONG = 3000


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that a model id names, with its number if it has one."""

    name: str
    number: int | None = None


def fault_of(model: str) -> Fault | None:
    """Return the fault that a model id names, or None."""
    name = model.partition("/")[2]
    if quirk_named(name):
        return Fault(name.removeprefix("sim-"))
    match = _ID.match(name)
    if not match or match.group("name") not in (*WIRE_FAULTS, *TURNS):
        return None
    number = match.group("number")
    return Fault(match.group("name"), int(number) if number else None)


def is_unknown_fault(model: str) -> bool:
    """Return whether an id names an unknown fault, so that a typo does not get an ordinary answer."""
    name = model.partition("/")[2].partition(":")[0]
    return name.startswith("sim-") and fault_of(model) is None and not _LIMITS.fullmatch(name)


def turn_of(incoming: Incoming, family: Family) -> Turn:
    """Return the turn of a request: the fault's, or the simulated model's."""
    fault, quirk = fault_of(incoming.model), quirk_of(incoming.model, incoming.attempt)
    if quirk:
        return quirk.turn(incoming, family)
    if fault and fault.name in PARAGRAPH_FAULTS:
        return Turn(remaining(incoming, PARAGRAPH), "I write a paragraph.")
    if row_of(incoming.model).draws:
        return draw(incoming)
    make_turn = TURNS.get(fault.name) if fault else None
    turn = make_turn(incoming, family, fault.number or 0) if fault and make_turn else decide(incoming, family)
    is_piece = fault is not None and fault.name.startswith("length")
    return turn if is_piece or turn.calls or not turn.text else replace(turn, text=remaining(incoming, turn.text))


def example_ids() -> list[str]:
    """Return the part after the slash of every fault, for the catalogue."""
    counted = {"error": ERROR_CODES, "searches": (2, 3, 6, 8, 12), "steps": (1, 2, 3, 5, 8, 12, 25)}
    numbered = [f"sim-{name}-{number}" for name, numbers in counted.items() for number in numbers]
    plain = [f"sim-{name}" for name in (*WIRE_FAULTS, *TURNS) if name not in counted]
    return [*plain, *numbered, *(f"sim-quirk-{name}" for name in QUIRKS)]


def _empty(incoming: Incoming, family: Family, number: int) -> Turn:
    return Turn()


def _reasoning_only(incoming: Incoming, family: Family, number: int) -> Turn:
    return replace(answer(incoming), text="")


def _length(incoming: Incoming, family: Family, number: int) -> Turn:
    rest = remaining(incoming, PARAGRAPH)
    return replace(answer(incoming), text=rest[:160], finish="length" if len(rest) > 160 else None)


def _length_document(incoming: Incoming, family: Family, number: int) -> Turn:
    text, is_last = next_piece(incoming)
    return replace(answer(incoming), text=text, finish=None if is_last else "length")


def _length_repeat(incoming: Incoming, family: Family, number: int) -> Turn:
    turn = _length_document(incoming, family, number)
    return replace(turn, text=repeated_start(incoming) + turn.text)


def _length_empty(incoming: Incoming, family: Family, number: int) -> Turn:
    return replace(answer(incoming), text="", finish="length")


def _length_tool(incoming: Incoming, family: Family, number: int) -> Turn:
    if not is_first(incoming):
        return answer(incoming)
    call = search(incoming, topic(incoming))
    raw = call.written(compact=family.compact_arguments)
    finish = "tool_calls" if family.name == "openai" else "length"
    return replace(asking(incoming, replace(call, raw=raw[:-4])), finish=finish)


def _refusal(incoming: Incoming, family: Family, number: int) -> Turn:
    return Turn(refusal="I'm sorry, I can't help with that request.", finish="stop")


def _filter(incoming: Incoming, family: Family, number: int) -> Turn:
    return Turn(PARAGRAPH[:80], finish="content_filter")


def _searches(incoming: Incoming, family: Family, number: int) -> Turn:
    if not is_first(incoming):
        return answer(incoming)
    words = topic(incoming)
    return asking(incoming, *(search(incoming, f"{words} {at}") for at in range(1, (number or 3) + 1)))


def _steps(incoming: Incoming, family: Family, number: int) -> Turn:
    done = rounds(incoming)
    if not incoming.may_call or done >= (number or 3):
        return answer(incoming)
    return asking(incoming, search(incoming, f"{topic(incoming)} {done + 1}"))


def _duplicate(incoming: Incoming, family: Family, number: int) -> Turn:
    if not is_first(incoming):
        return answer(incoming)
    words = topic(incoming)
    spaced = "  ".join(words.upper().split())
    return asking(incoming, *(search(incoming, query) for query in (words, f" {spaced} ", f'"{words}"')))


def _parallel(incoming: Incoming, family: Family, number: int) -> Turn:
    if not is_first(incoming):
        return answer(incoming)
    wanted = (time_call(incoming, "Asia/Tokyo"), calculate_call(incoming, "6 * 7"))
    return asking(incoming, *(call for call in wanted if call), search(incoming, topic(incoming)))


def _bad_args(incoming: Incoming, family: Family, number: int) -> Turn:
    if not is_first(incoming):
        return answer(incoming)
    call = search(incoming, topic(incoming))
    cut = replace(call, raw=call.written(compact=True)[:-3])
    wrong = Call(call.name, dict.fromkeys(call.arguments, 42))
    return asking(incoming, cut, wrong, Call(call.name, {}), Call(call.name, raw='["not", "an object"]'))


def _unknown_tool(incoming: Incoming, family: Family, number: int) -> Turn:
    if not is_first(incoming):
        return answer(incoming)
    return asking(incoming, Call("lookup_everything", {"query": topic(incoming)}))


def _same_id(incoming: Incoming, family: Family, number: int) -> Turn:
    if not incoming.may_call or rounds(incoming) >= 2:
        return answer(incoming)
    base = 2 * rounds(incoming)
    return asking(incoming, *(search(incoming, f"{topic(incoming)} {base + at}") for at in (1, 2)))


def _late_stop(incoming: Incoming, family: Family, number: int) -> Turn:
    if not is_first(incoming):
        return answer(incoming)
    return replace(asking(incoming, search(incoming, topic(incoming))), finish="stop")


def _stubborn(incoming: Incoming, family: Family, number: int) -> Turn:
    return asking(incoming, search(incoming, f"{topic(incoming)} {rounds(incoming) + 1}"))


def _silent_finalize(incoming: Incoming, family: Family, number: int) -> Turn:
    return _stubborn(incoming, family, number) if incoming.may_call else Turn()


def _long(incoming: Incoming, family: Family, number: int) -> Turn:
    line = "This answer goes on and on so that long streams can be tried. "
    in_ten = len(family.cut_text(line * 10)) or 1
    return Turn(line * ((number or LONG) * 10 // in_ten + 10), "A long answer was asked for, so I write one.")


TURNS: dict[str, Callable[[Incoming, Family, int], Turn]] = {
    "empty": _empty,
    "reasoning-only": _reasoning_only,
    "length": _length,
    "length-document": _length_document,
    "length-repeat": _length_repeat,
    "length-empty": _length_empty,
    "length-tool": _length_tool,
    "refusal": _refusal,
    "filter": _filter,
    "searches": _searches,
    "steps": _steps,
    "duplicate": _duplicate,
    "parallel": _parallel,
    "bad-args": _bad_args,
    "unknown-tool": _unknown_tool,
    "same-id": _same_id,
    "late-stop": _late_stop,
    "stubborn": _stubborn,
    "silent-finalize": _silent_finalize,
    "long": _long,
}
