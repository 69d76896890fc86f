"""Events of runs for tests of encoders: every ending in every situation, and random runs."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from msgspec.structs import replace
from signalbox.core.codes import CODES, Code
from signalbox.core.events import (
    AnyEvent,
    ArgumentsDelta,
    Call,
    Content,
    Done,
    Failure,
    Image,
    Reasoning,
    Source,
    Stamped,
    Status,
    Success,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    UsageTotals,
    Warning,
)
from signalbox.core.order.invariants import first_fault

RUN = "0123456789abcdef" * 2
CLIENT_TOOL, OUR_TOOL = "open_page", "search_web"
"""Names of a tool that the client executes, and of one of ours."""

_STATUS: dict[Code, Status] = {
    Code.LENGTH: "length",
    Code.REASONING_LENGTH: "length",
    Code.CONTENT_FILTER: "content_filter",
    **dict.fromkeys(
        (
            *(Code.STREAM_CUT, Code.UPSTREAM_STALLED, Code.DETACHED_TIMEOUT, Code.SERVER_SHUTDOWN, Code.SERVER_CRASH),
            *(Code.BUDGET_REACHED, Code.BUDGET_EXHAUSTED, Code.RUN_TOO_LARGE),
        ),
        "interrupted",
    ),
}
_USAGE = UsageTotals(input=12, output=5, reasoning=2, cached=3)


def stamped(*events: AnyEvent) -> list[Stamped]:
    """Number the events of a run, whose order is checked."""
    assert first_fault(events) is None, first_fault(events)
    return [Stamped(seq, 1_790_000_000_000 + seq, event) for seq, event in enumerate(events, 1)]


def ending_codes() -> list[Code]:
    """Return the codes with which a run may end."""
    codes = [*Code]
    return [*codes[codes.index(Code.UPSTREAM_AUTH) : codes.index(Code.INTERNAL) + 1], Code.BUDGET_EXHAUSTED]


def all_endings() -> dict[str, list[Stamped]]:
    """Return a run for each ending in each situation, by name."""
    runs: dict[str, list[Stamped]] = {}
    for situation, (events, open_calls) in _situations().items():
        for code in ending_codes():
            results = [_failed(call, Code.STEP_FAILED) for call in open_calls]
            sentence = CODES[code].sentence
            done = Done(True, _STATUS.get(code, "error"), error=sentence, code=code, usage=_USAGE, cost=0.001)
            runs[f"{situation}, {code}"] = stamped(*events, *results, Warning(sentence, code), done)
        results = [_failed(call, Code.CANCELLED) for call in open_calls]
        runs[f"{situation}, cancelled"] = stamped(*events, *results, Done(True, "cancelled", usage=_USAGE))
        if any(isinstance(event, Content) for event in events) and not open_calls:
            runs[f"{situation}, complete"] = stamped(*events, Done(True, "complete", usage=_USAGE, cost=0.001))
    theirs = _call("t1", CLIENT_TOOL, {"page": "home"})
    handed = Done(True, "complete", handed=[theirs.id], usage=_USAGE)
    runs["a call of the client, handed"] = stamped(ToolCalls([theirs], 1), handed)
    return runs


def _situations() -> dict[str, tuple[list[AnyEvent], list[Call]]]:
    """Return the events before an ending, and the calls that are open then."""
    ours, theirs = _call("o1", OUR_TOOL, {"query": "tea"}), _call("t1", CLIENT_TOOL, {"page": "home"})
    executing = ToolExecuting(ours.id, ours.name, ours.category, ours.visibility, 1)
    found = ToolResult(ours.id, ours.name, Success(True, {"results": []}), ours.category, ours.visibility, step=1)
    return {
        "nothing yet": ([], []),
        "in reasoning": ([Reasoning("Hm", 1)], []),
        "in text": ([Reasoning("Hm", 1), Content("Hel"), Content("lo")], []),
        "in arguments": ([Content("I look."), ArgumentsDelta("o1", OUR_TOOL, '{"que', 1)], []),
        "in arguments for the client": ([ArgumentsDelta("t1", CLIENT_TOOL, '{"pa', 1)], []),
        "calls are open": ([ToolCalls([ours, theirs], 1), executing], [ours, theirs]),
        "behind a result": ([ToolCalls([ours], 1), executing, found, Reasoning("So", 2), Content("\n\nFound.")], []),
    }


def _call(call_id: str, name: str, arguments: Any) -> Call:
    return Call(call_id, name, json.dumps(arguments), "other", "secondary")


def _failed(call: Call, code: Code) -> ToolResult:
    return ToolResult(call.id, call.name, Failure(False, CODES[code].sentence, code), call.category, call.visibility)


def random_run(seed: int) -> list[Stamped]:
    """Return the events of a random run: retries, calls in interleaved pieces, cut arguments, results in any order."""
    random = Random(seed)
    count = random.randint(1, 3)
    events = [event for step in range(1, count + 1) for event in _random_step(random, step)]
    ending = random.choice(["complete", "handed", "cancelled", "error"])
    if ending == "handed":
        calls = [_call(f"h{place}", CLIENT_TOOL, _value(random)) for place in range(random.randint(1, 2))]
        events += [*_pieces(random, calls, count), ToolCalls(calls, count)]
        events.append(Done(True, "complete", handed=[call.id for call in calls]))
    elif ending == "error":
        code = random.choice(ending_codes())
        events += [Warning("It broke.", code), Done(True, _STATUS.get(code, "error"), code=code, error="It broke.")]
    elif ending == "cancelled":
        events.append(Done(True, "cancelled"))
    else:
        events += [Content("The end."), Done(True, "complete", usage=_USAGE)]
    return stamped(*events)


def _random_step(random: Random, step: int) -> Iterator[AnyEvent]:
    if random.random() < 0.2:  # a retry without what the provider rejects
        yield Warning("Tried again without images.", Code.CONTENT_DROPPED, step=step)
    if random.random() < 0.2:
        yield Reasoning("", step, hidden=True)
    yield from (Reasoning(text, step) for text in _texts(random))
    texts = _texts(random)
    if texts and step > 1:
        yield Content("\n\n")
    yield from map(Content, texts)
    if random.random() < 0.3:
        yield Content("", sources=[Source(random.randint(1, 3), "https://a.example", "A")], step=step)
    if random.random() < 0.2:
        yield Content("", images=[Image("data:image/png;base64,AAAA")])
    names = [random.choice([OUR_TOOL, CLIENT_TOOL, "calculate"]) for _ in range(random.randint(0, 3))]
    calls = [_call(f"c{step}{place}", name, _value(random)) for place, name in enumerate(names)]
    cut = {call.id for call in calls if random.random() < 0.15}
    calls = [replace(call, arguments=call.arguments[:-2]) if call.id in cut else call for call in calls]
    if random.random() < 0.2:  # of an attempt that was made again
        yield ArgumentsDelta(f"lost{step}", OUR_TOOL, '{"a', step)
    yield from _pieces(random, calls, step)
    if calls:
        yield ToolCalls(calls, step)
    random.shuffle(calls)
    for call in calls:
        if call.id not in cut:
            yield ToolExecuting(call.id, call.name, call.category, call.visibility, step)
        is_success = call.id not in cut and random.random() < 0.7
        result = Success(True, _value(random)) if is_success else Failure(False, "No.", "TOOL_FAILED")
        yield ToolResult(call.id, call.name, result, call.category, call.visibility, step=step)
        if random.random() < 0.2:
            yield Warning("Slow.", step=step)


def object_in(arguments: str) -> Any:
    """Return the JSON of a call's arguments, None if they were cut."""
    try:
        return json.loads(arguments)
    except json.JSONDecodeError:
        return None


def _pieces(random: Random, calls: list[Call], step: int) -> Iterator[ArgumentsDelta]:
    """Yield the arguments of some of the calls, interleaved."""
    waiting = [(call, [*call.arguments]) for call in calls if random.random() < 0.7]
    while waiting:
        call, left = random.choice(waiting)
        size = random.randint(1, 8)
        yield ArgumentsDelta(call.id, call.name, "".join(left[:size]), step)
        del left[:size]
        waiting = [(one, rest) for one, rest in waiting if rest]


def _texts(random: Random) -> list[str]:
    return ["".join(random.choices('ab\n "\\é€\u2028', k=random.randint(1, 4))) for _ in range(random.randint(0, 4))]


def _value(random: Random) -> Any:
    return {key: random.choice([1, 2.5, None, "x\n", ["y"], {"z": True}]) for key in random.sample("abc", 2)}
