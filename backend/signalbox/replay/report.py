"""The reports of `signalbox replay` and `signalbox parity`, as text and as JSON data."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from signalbox.core.messages import JsonObject
from signalbox.replay.differences import Difference, call_line, call_status, format_cost
from signalbox.replay.outcome import Outcome
from signalbox.replay.parity import Comparison, TrialResult

_COLUMN = 34
_MAX_NAMES = 6


# --- one replay -------------------------------------------------------------------------------------------------


def replay_lines(
    original: Outcome, again: Outcome, found: Sequence[Difference], unrecorded: Sequence[str]
) -> Iterator[str]:
    """Format the original and its replay side by side, and their differences."""
    yield _row("", "original", "replay")
    for name, one, other in _rows(original, again):
        yield _row(name, one, other)
    for title, outcome in (("calls of the original", original), ("calls of the replay", again)):
        yield f"{title}:" if outcome.calls else f"{title}: none"
        yield from (f"  {place}. {call_line(call)}: {call_status(call)}" for place, call in enumerate(outcome.calls, 1))
    if unrecorded:
        yield f"not in the journal, so without a result: {', '.join(unrecorded)}"
    yield "differences:" if found else "differences: none"
    yield from (line for one in found for line in _difference_lines(one, "original", "replay"))
    kinds: defaultdict[str, list[str]] = defaultdict(list)
    for one in found:
        if one.why:
            kinds[one.why].append(one.kind)
    if kinds:
        yield "why they are expected:"
    yield from (f"  {len(of)} ({', '.join(of)}): {why}" for why, of in kinds.items())


def _rows(one: Outcome, other: Outcome) -> Iterator[tuple[str, str, str]]:
    yield "loop", one.loop, other.loop
    yield "model", one.model, other.model
    yield "ending", _ending(one), _ending(other)
    yield "steps", str(one.steps), str(other.steps)
    yield "requests", str(len(one.tried)), str(len(other.tried))
    yield "calls", str(len(one.calls)), str(len(other.calls))
    yield "warnings", ", ".join(one.warnings) or "none", ", ".join(other.warnings) or "none"
    yield "text", f"{len(one.text)} characters", "equal" if one.text == other.text else f"{len(other.text)} characters"
    yield "reasoning", f"{len(one.reasoning)} characters", f"{len(other.reasoning)} characters"
    yield "cost", format_cost(one.cost), format_cost(other.cost)
    yield "time", f"{one.milliseconds} ms", f"{other.milliseconds} ms"


def _row(name: str, one: str, other: str) -> str:
    return f"{name:<10} {one:<{_COLUMN}} {other}".rstrip()


def _ending(outcome: Outcome) -> str:
    return f"{outcome.status} {outcome.code}" if outcome.code else outcome.status


def _difference_lines(one: Difference, first: str, second: str) -> Iterator[str]:
    yield f"  {one.kind} ({'expected' if one.is_expected else 'unexpected'})"
    yield f"    {first}: {one.first}"
    yield f"    {second}: {one.second}"


def replay_data(
    original: Outcome, again: Outcome, found: Sequence[Difference], unrecorded: Sequence[str]
) -> JsonObject:
    """Return the report of a replay as JSON data."""
    return {
        "original": asdict(original),
        "replay": asdict(again),
        "differences": [_as_data(one) for one in found],
        "unrecorded": [*unrecorded],
    }


# --- parity -----------------------------------------------------------------------------------------------------


def case_line(result: Comparison) -> str:
    """Format the result of a case in one line."""
    word = "DIFFERS" if result.unexpected else "expected" if result.expected else "same"
    kinds = ", ".join(one.kind for one in result.unexpected or result.expected)
    note = f" [{len(result.unrecorded)} calls not in the journal]" if result.unrecorded else ""
    about = f" [{result.about}]" if result.about else ""
    return f"{word:<9} {result.name}{f': {kinds}' if kinds else ''}{about}{note}"


def run_summary(outcome: Outcome) -> str:
    """Return the ending and the tool names of a run."""
    tools = ", ".join(dict.fromkeys(call.name for call in outcome.calls))
    return f"{_ending(outcome)}, {tools or 'no tools'}"


def detail_lines(results: Sequence[Comparison], answered: str) -> Iterator[str]:
    """Format the reasons for expected differences, then the unexpected differences, then the totals.

    `answered` names the upstream that answered, for the totals.
    """
    expected = _by_reason(results)
    if expected:
        yield ""
        yield "Expected differences"
    for why, names in sorted(expected.items(), key=lambda item: -len(item[1])):
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        yield f"  {why}"
        yield f"    {len(names)}: {', '.join(names[:_MAX_NAMES])}{more}"
    differing = [result for result in results if result.unexpected]
    if differing:
        yield ""
        yield "Unexpected differences: each counts as a bug in one of the loops until it is explained"
    for result in differing:
        yield f"  {result.name} ({result.model})"
        yield from (f"  {line}" for one in result.unexpected for line in _difference_lines(one, "legacy", "v2"))
    yield ""
    yield _totals(results, answered)


def _by_reason(results: Sequence[Comparison]) -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for result in results:
        for why in dict.fromkeys(one.why for one in result.expected if one.why):
            found[why].append(result.name)
    return found


def _totals(results: Sequence[Comparison], answered: str) -> str:
    same = sum(1 for result in results if not result.found)
    differs = sum(1 for result in results if result.unexpected)
    expected = len(results) - same - differs
    cases = f"{len(results)} case{'' if len(results) == 1 else 's'} on both loops, answered by {answered}"
    words = f"{cases}: {same} the same, {expected} different as expected, {differs} different unexpectedly."
    if differs:
        return f"{words} Do not raise the flag until each of them is explained."
    return f"{words} Nothing prevents raising the flag." if results else "There is nothing to compare."


def parity_data(results: Sequence[Comparison]) -> JsonObject:
    """Return the report of parity as JSON data."""
    return {
        "cases": [_case_data(result) for result in results],
        "same": sum(1 for result in results if not result.found),
        "expected": sum(1 for result in results if result.found and not result.unexpected),
        "unexpected": sum(1 for result in results if result.unexpected),
    }


def _case_data(result: Comparison) -> JsonObject:
    return {
        "name": result.name,
        "about": result.about,
        "model": result.model,
        "differences": [_as_data(one) for one in result.found],
        "unrecorded": [*result.unrecorded],
        **({"legacy": asdict(result.legacy), "v2": asdict(result.v2)} if isinstance(result, TrialResult) else {}),
    }


def _as_data(one: Difference) -> JsonObject:
    return {
        "kind": one.kind,
        "class": "expected" if one.is_expected else "unexpected",
        "first": one.first,
        "second": one.second,
        "why": one.why,
    }
