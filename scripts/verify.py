"""Run every check and test as a named step with its time, go on after a failure, and end with a summary."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
# How long a command that was told to end has for it.
_GRACE_SECONDS = 15
# Two per core, as many tests wait for servers that they have started; more disturb those that measure time.
PROCESSES = min(2 * (os.cpu_count() or 1), 8)
PAGE = ("python", "scripts/page.py")


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the run."""

    name: str
    command: tuple[str, ...]


CHECKS = (
    Step("lint", ("ruff", "check", "--output-format", "concise", ".")),
    Step("format", ("ruff", "format", "--check", "--output-format", "concise", ".")),
    Step("words", ("python", "scripts/words.py")),
    Step("import rules", ("lint-imports", "--no-cache", "--no-logo")),
    Step("types", ("pyright", "--project", "pyproject.toml")),
    Step("page check", (*PAGE, "run", "check")),
)
# The page is built before pytest, whose tests ask the app for it; pytest is last, so that its counts close the output.
TESTS = (
    Step("page tests", (*PAGE, "run", "test")),
    Step("page build", (*PAGE, "build")),
    # A file's tests share what it has started and stay together; tests/conftest.py puts the longest files first.
    Step("pytest", ("pytest", "-n", str(PROCESSES), "--dist", "loadfile", "--no-loadscope-reorder")),
)
PLANS = {"check": CHECKS, "test": CHECKS + TESTS}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a step went."""

    name: str
    ok: bool
    seconds: float

    def __str__(self) -> str:
        """Say it in one line."""
        return f"── {self.name}: {'ok' if self.ok else 'FAILED'}, {self.seconds:.1f} s"


def _environment() -> dict[str, str]:
    """Let Python keep compiled files, also in a container that forbids it: the tests start hundreds of processes."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def call(command: Sequence[str]) -> int:
    """Run a command and return its status; where this is told to end, it ends first, and clears up as behind Ctrl-C."""
    with subprocess.Popen(command, cwd=ROOT, env=_environment()) as child:
        try:
            return child.wait()
        except SystemExit:
            child.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                child.wait(_GRACE_SECONDS)
            child.kill()
            raise


def stop(number: int, frame: object) -> NoReturn:
    """Leave by the way on which what runs is ended."""
    sys.exit(128 + number)


def run(step: Step) -> Outcome:
    """Run one step in the open and say how it went."""
    print(f"\n── {step.name}", flush=True)
    started = time.monotonic()
    code = call(step.command)
    outcome = Outcome(step.name, code == 0, time.monotonic() - started)
    print(outcome, flush=True)
    return outcome


def verify(steps: tuple[Step, ...]) -> int:
    """Run all steps, whatever fails, and end with all of them in short."""
    outcomes = [run(step) for step in steps]
    failed = [outcome.name for outcome in outcomes if not outcome.ok]
    verdict = f"FAILED: {', '.join(failed)}" if failed else "all well"
    print("", *outcomes, sep="\n")
    print(f"{len(steps)} steps in {sum(outcome.seconds for outcome in outcomes):.1f} s: {verdict}", flush=True)
    return 1 if failed else 0


def main(arguments: list[str]) -> int:
    """Run a plan; `test` with more arguments is pytest alone."""
    match arguments:
        case ["test", _, *_]:
            return call(["pytest", *arguments[1:]])
        case [plan] if plan in PLANS:
            return verify(PLANS[plan])
        case _:
            print("usage: verify.py check | test [PYTEST ARGUMENTS]", file=sys.stderr)
            return 2


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
