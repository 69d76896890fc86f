"""The doctor's report, as aligned text or as JSON."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

import orjson

from signalbox import __version__
from signalbox.commands.doctor.finding import Finding


def is_well(findings: Sequence[Finding]) -> bool:
    """Whether nothing failed; warnings are no failure."""
    return not any(one.state == "fail" for one in findings)


def as_text(findings: Sequence[Finding]) -> str:
    """Write one line for each finding, and one below it for what is to be done."""
    width = max(len(one.about) for one in findings)
    lines: list[str] = []
    for one in findings:
        lines.append(f"{one.state:<5} {one.about:<{width}}  {_in_a_line(one.found)}")
        if one.todo:
            lines.append(f"{'':<5} {'':<{width}}  To do: {_in_a_line(one.todo)}")
    counts = Counter(one.state for one in findings)
    return "\n".join([*lines, "", f"{counts['ok']} ok, {counts['warn']} warn, {counts['fail']} fail.", ""])


def _in_a_line(words: str) -> str:
    """Join the lines of what another program, or a name, has put into a sentence."""
    return " ".join(words.splitlines())


def as_json(findings: Sequence[Finding]) -> str:
    """Write the same for programs."""
    value = {"version": __version__, "ok": is_well(findings), "checks": [asdict(one) for one in findings]}
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n"
