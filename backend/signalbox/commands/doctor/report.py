"""The doctor's report, as aligned text or as JSON."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

import orjson

from signalbox import __version__
from signalbox.commands.doctor.finding import Finding


def all_passed(findings: Sequence[Finding]) -> bool:
    """Return whether no check failed; warnings are not failures."""
    return not any(one.state == "fail" for one in findings)


def as_text(findings: Sequence[Finding]) -> str:
    """Format one line per finding, and one below it if there is something to do."""
    width = max(len(one.about) for one in findings)
    lines: list[str] = []
    for one in findings:
        lines.append(f"{one.state:<5} {one.about:<{width}}  {_in_a_line(one.found)}")
        if one.todo:
            lines.append(f"{'':<5} {'':<{width}}  To do: {_in_a_line(one.todo)}")
    counts = Counter(one.state for one in findings)
    return "\n".join([*lines, "", f"{counts['ok']} ok, {counts['warn']} warn, {counts['fail']} fail.", ""])


def _in_a_line(words: str) -> str:
    """Join the lines of a sentence, which may quote another program."""
    return " ".join(words.splitlines())


def as_json(findings: Sequence[Finding]) -> str:
    """Format the findings as JSON."""
    value = {"version": __version__, "ok": all_passed(findings), "checks": [asdict(one) for one in findings]}
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n"
