"""Checks an answer against the expectations of its case."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json import JSONDecodeError, loads

from msgspec import UNSET

from signalbox.core.messages import JsonValue
from signalbox.encoders.v1_whole import ChatAnswer
from signalbox.evals.bounded import Job, run_bounded
from signalbox.evals.expectations import Expectations, ExpectedArguments, ExpectedFile, ExpectedTools
from signalbox.evals.results import Check, MadeCall

_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Files:
    """The files of the conversation: all paths, and the texts of those that are checked."""

    paths: frozenset[str] = frozenset()
    texts: dict[str, str] | None = None


async def check_answer(expect: Expectations, answer: ChatAnswer, files: Files) -> list[Check]:
    """Return every check of the expectations with its outcome."""
    checks = [*_ending(expect, answer), *_text(expect, answer.text)]
    if expect.tools is not None:
        checks += _tools(expect.tools, calls_of(answer))
    checks += [check for expected in expect.files for check in _file(expected, files)]
    checks += _limits(expect, answer)
    return [*checks, *await _bounded(expect, answer, files)]


def calls_of(answer: ChatAnswer) -> list[MadeCall]:
    """Return the calls of an answer with what results keep of them."""
    found: list[MadeCall] = []
    for call in answer.calls:
        result: JsonValue = call.result if call.result is not UNSET else None
        error = result.get("error") if isinstance(result, dict) else None
        found.append(MadeCall(call.name, call.arguments, None if error is None else str(error)))
    return found


# --- the ending and the text ------------------------------------------------------------------------------------------


def _ending(expect: Expectations, answer: ChatAnswer) -> Iterator[Check]:
    status = answer.status
    why = f": {answer.error}" if isinstance(answer.error, str) else ""
    yield _check(f"status is {expect.status}", status == expect.status, f"the status is {status}{why}")
    if expect.code is not None:
        code = answer.code if isinstance(answer.code, str) else "none"
        yield _check(f"code is {expect.code}", code == expect.code, f"the code is {code}")
    codes = [warning.code for warning in answer.warnings if isinstance(warning.code, str)]
    for code in expect.warnings:
        yield _check(f"warning {code}", code in codes, f"the warnings are {_listed(codes)}")
    if expect.no_warnings is True:
        said = [warning.message for warning in answer.warnings]
        yield _check("no warnings", not said, f"the warnings are {_listed(said)}")
    elif expect.no_warnings:
        for code in expect.no_warnings:
            yield _check(f"no warning {code}", code not in codes, "the run has this warning")


def _text(expect: Expectations, text: str) -> Iterator[Check]:
    if expect.equals is not None:
        yield _check(f"text equals {_shown(expect.equals)}", text.strip() == expect.equals.strip(), "the text differs")
    yield from _parts("text", text, expect.contains, expect.not_contains)


def _parts(name: str, text: str, contains: Sequence[str], not_contains: Sequence[str]) -> Iterator[Check]:
    for part in contains:
        yield _check(f"{name} contains {_shown(part)}", part in text, "not found")
    for part in not_contains:
        yield _check(f"{name} does not contain {_shown(part)}", part not in text, "found")


# --- tools ------------------------------------------------------------------------------------------------------------


def _tools(expect: ExpectedTools, calls: Sequence[MadeCall]) -> Iterator[Check]:
    names = [call.name for call in calls]
    made = f"the calls are {_listed(names)}"
    for name, least in Counter(expect.called).items():
        times = "" if least == 1 else f" at least {least} times"
        yield _check(f"calls {name}{times}", names.count(name) >= least, made)
    for name in expect.not_called:
        yield _check(f"does not call {name}", name not in names, made)
    if expect.only is not None:
        yield _check(f"calls only {_listed(expect.only)}", not {*names} - {*expect.only}, made)
    if expect.exactly is not None:
        is_exact = Counter(names) == Counter(expect.exactly)
        yield _check(f"calls exactly {_listed(expect.exactly)}", is_exact, made)
    if expect.order is not None:
        remaining = iter(names)
        in_order = all(name in remaining for name in expect.order)
        yield _check(f"calls in order {_listed(expect.order)}", in_order, made)
    for expected in expect.arguments:
        yield _arguments(expected, calls)
    if expect.all_succeed:
        failed = [f"{call.name}: {call.error}" for call in calls if call.error is not None]
        yield _check("all calls succeed", not failed, _listed(failed))


def _arguments(expect: ExpectedArguments, calls: Sequence[MadeCall]) -> Check:
    meant = [call.arguments for call in calls if call.name == expect.tool]
    word = "equal" if expect.equal is not None else "contain"
    wanted: JsonValue = expect.equal if expect.equal is not None else expect.contain
    is_met = any(
        _equal(wanted, given) if expect.equal is not None else _contains(wanted, given) for given in map(_json, meant)
    )
    made = f"its calls have the arguments {_listed(meant)}" if meant else "it is not called"
    return _check(f"arguments of {expect.tool} {word} {_shown(str(wanted))}", is_met, made)


def _json(text: str) -> JsonValue:
    """Return the arguments as JSON. A model may send anything, which then equals nothing."""
    try:
        return loads(text)
    except (JSONDecodeError, RecursionError):
        return None


def _contains(wanted: JsonValue, given: JsonValue) -> bool:
    """Return whether text is part of the given text, objects have the wanted names, and other values are equal."""
    if isinstance(wanted, str):
        return isinstance(given, str) and wanted in given
    if isinstance(wanted, dict):
        return isinstance(given, dict) and all(
            name in given and _contains(value, given[name]) for name, value in wanted.items()
        )
    return _equal(wanted, given)


def _equal(wanted: JsonValue, given: JsonValue) -> bool:
    """Compare as JSON: True is not 1, but 1 is 1.0."""
    if isinstance(wanted, bool) or isinstance(given, bool):
        return wanted is given
    if isinstance(wanted, dict) and isinstance(given, dict):
        return wanted.keys() == given.keys() and all(_equal(value, given[name]) for name, value in wanted.items())
    if isinstance(wanted, list) and isinstance(given, list):
        return len(wanted) == len(given) and all(map(_equal, wanted, given))
    return wanted == given


# --- files and limits -------------------------------------------------------------------------------------------------


def _file(expect: ExpectedFile, files: Files) -> Iterator[Check]:
    path, there = expect.path, f"the files are {_listed(sorted(files.paths))}"
    if not expect.exists:
        yield _check(f"there is no file {path}", path not in files.paths, there)
        return
    yield _check(f"there is a file {path}", path in files.paths, there)
    text = (files.texts or {}).get(path)
    if text is not None:
        yield from _parts(path, text, expect.contains, expect.not_contains)


def _limits(expect: Expectations, answer: ChatAnswer) -> Iterator[Check]:
    steps = None if answer.steps is UNSET else answer.steps
    if expect.steps is not None:
        yield _check(f"{expect.steps} steps", steps == expect.steps, f"the run has {steps} steps")
    if expect.max_steps is not None:
        is_met = steps is not None and steps <= expect.max_steps
        yield _check(f"at most {expect.max_steps} steps", is_met, f"the run has {steps} steps")
    if expect.max_cost is not None:
        cost = None if answer.cost is UNSET else answer.cost
        said = "the cost is unknown" if cost is None else f"the cost is ${cost:.6f}"
        yield _check(f"cost at most ${expect.max_cost:g}", cost is not None and cost <= expect.max_cost, said)
    if expect.max_seconds is not None:
        seconds = None if answer.duration_ms is UNSET else answer.duration_ms / 1000
        said = "the time is unknown" if seconds is None else f"the run took {seconds:.2f} s"
        is_met = seconds is not None and seconds <= expect.max_seconds
        yield _check(f"at most {expect.max_seconds:g} s", is_met, said)


# --- patterns and schemas ---------------------------------------------------------------------------------------------


async def _bounded(expect: Expectations, answer: ChatAnswer, files: Files) -> list[Check]:
    """Check what needs a time limit."""
    named = [(f"text matches {_shown(pattern)}", Job("pattern", pattern, answer.text)) for pattern in expect.matches]
    for expected in expect.files:
        text = (files.texts or {}).get(expected.path)
        if text is not None:
            named += [
                (f"{expected.path} matches {_shown(pattern)}", Job("pattern", pattern, text))
                for pattern in expected.matches
            ]
    broken: list[Check] = []
    if expect.json_schema is not None:
        name = "text matches the JSON Schema"
        try:
            named.append((name, Job("schema", expect.json_schema, loads(_without_code_block(answer.text)))))
        except (JSONDecodeError, RecursionError):
            broken.append(_check(name, False, "the text is not JSON"))
    outcomes = await run_bounded([job for _, job in named])
    return [
        *(_check(name, fault is None, fault or "") for (name, _), fault in zip(named, outcomes, strict=True)),
        *broken,
    ]


def _without_code_block(text: str) -> str:
    """Return JSON without the Markdown code block that many models put around it."""
    lines = text.strip().splitlines()
    is_in_block = len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```"
    return "\n".join(lines[1:-1]) if is_in_block else text


def _check(name: str, ok: bool, detail: str) -> Check:
    return Check(name, ok, "" if ok else detail)


def _shown(text: str) -> str:
    return f"“{text[:_LONGEST_SHOWN]}{'…' if len(text) > _LONGEST_SHOWN else ''}”"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
