"""Run every check and test as a named step with its time, go on after a failure, and end with a summary."""

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ("python", "scripts/page.py")


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the run."""

    name: str
    command: tuple[str, ...]


CHECKS = (
    Step("lint", ("ruff", "check", "--quiet", ".")),
    Step("format", ("ruff", "format", "--check", "--quiet", ".")),
    Step("import rules", ("lint-imports", "--no-cache", "--no-logo")),
    Step("types", ("pyright", "--project", "pyproject.toml")),
    Step("page check", (*PAGE, "run", "check")),
)
# The page is built before pytest, whose tests ask the app for it; pytest is last, so that its counts close the output.
TESTS = (
    Step("page tests", (*PAGE, "run", "test")),
    Step("page build", (*PAGE, "build")),
    Step("pytest", ("pytest",)),
)
PLANS = {"check": CHECKS, "test": CHECKS + TESTS}


def run(step: Step) -> bool:
    """Run one step in the open and say how it went."""
    print(f"\n── {step.name}", flush=True)
    started = time.monotonic()
    ok = subprocess.run(step.command, cwd=ROOT, check=False).returncode == 0
    print(f"── {step.name}: {'ok' if ok else 'FAILED'}, {time.monotonic() - started:.1f} s", flush=True)
    return ok


def verify(steps: tuple[Step, ...]) -> int:
    """Run all steps, whatever fails, and name what failed."""
    started = time.monotonic()
    failed = [step.name for step in steps if not run(step)]
    verdict = f"{', '.join(failed)} FAILED" if failed else "all well"
    print(f"\n{len(steps)} steps in {time.monotonic() - started:.1f} s: {verdict}", flush=True)
    return 1 if failed else 0


def main(arguments: list[str]) -> int:
    """Run a plan; `test` with more arguments is pytest alone."""
    match arguments:
        case ["test", _, *_]:
            return subprocess.run(["pytest", *arguments[1:]], cwd=ROOT, check=False).returncode
        case [plan] if plan in PLANS:
            return verify(PLANS[plan])
        case _:
            print("usage: verify.py check | test [PYTEST ARGUMENTS]", file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
