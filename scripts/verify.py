"""Run every check and test as a named step with its time, continue after a failure, and print a summary.

Most steps use one core, so they run concurrently, and each prints its output when it has finished.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NoReturn

ROOT = Path(__file__).resolve().parent.parent
# Whether pytest has run here before.
_IS_COMPILED = any(ROOT.glob("tests/**/__pycache__/test_*-pytest-*.pyc"))
# How long an interrupted command may take to end.
_GRACE_SECONDS = 15
_CORES = os.cpu_count() or 1
# Two per core, since many tests wait for servers; more would disturb tests that measure time.
PROCESSES = min(2 * _CORES, 8)
PAGE = ("python", "scripts/page.py")


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the run.

    A step that uses all cores runs last and prints as it runs. A step in the background may still run beside it.
    """

    name: str
    command: tuple[str, ...]
    is_last: bool = False
    is_background: bool = False


# Steps start in this order, the longest first.
CHECKS = (
    # Takes 95 s of CPU time. While tests of pytest wait for servers, cores are idle.
    Step("types", ("nice", "-n", "19", "pyright", "--project", "pyproject.toml"), is_background=True),
    Step("page check", (*PAGE, "run", "check")),
    Step("client check", (*PAGE, "client", "check")),
    Step("import rules", ("lint-imports", "--no-cache", "--no-logo")),
    Step("lint", ("ruff", "check", "--output-format", "concise", ".")),
    Step("format", ("ruff", "format", "--check", "--output-format", "concise", ".")),
    Step("words", ("python", "scripts/words.py")),
)
TESTS = (
    Step("page tests", (*PAGE, "run", "test")),
    Step("client tests", (*PAGE, "client", "test")),
    # Compiles all tests of a new checkout once: otherwise every process of pytest does, which takes 17 s of each.
    *(() if _IS_COMPILED else (Step("test collection", ("pytest", "--collect-only", "-qqq", "-n", "0")),)),
    # Before pytest, whose tests request the page from the app.
    Step("page build", (*PAGE, "build")),
    # Tests of one file share servers, so one process runs them all; tests/order.py puts the longest files first.
    Step("pytest", ("pytest", "-n", str(PROCESSES), "--dist", "loadfile", "--no-loadscope-reorder"), is_last=True),
)
PLANS = {"check": CHECKS, "test": CHECKS + TESTS}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a step."""

    name: str
    ok: bool
    seconds: float

    def __str__(self) -> str:
        """Format it as one line."""
        return f"── {self.name}: {'ok' if self.ok else 'FAILED'}, {self.seconds:.1f} s"


def _environment() -> dict[str, str]:
    """Let Python write compiled files even in a container that forbids it: the tests start many processes."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _start(command: Sequence[str], output: IO[bytes] | None = None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, cwd=ROOT, env=_environment(), stdout=output, stderr=output and subprocess.STDOUT)


def _interrupt(child: subprocess.Popen[bytes]) -> None:
    """Interrupt a command like Ctrl-C, so that it cleans up; kill it if it takes too long."""
    child.send_signal(signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        child.wait(_GRACE_SECONDS)
    child.kill()


def call(command: Sequence[str]) -> int:
    """Run a command and return its status; if this process is terminated, the command ends first."""
    with _start(command) as child:
        try:
            return child.wait()
        except SystemExit:
            _interrupt(child)
            raise


def stop(number: int, frame: object) -> NoReturn:
    """Exit through the handlers that end running commands."""
    sys.exit(128 + number)


def _run(step: Step) -> Outcome:
    """Run one step and print its output as it arrives."""
    print(f"\n── {step.name}", flush=True)
    started = time.monotonic()
    code = call(step.command)
    return Outcome(step.name, code == 0, time.monotonic() - started)


def _run_quietly(step: Step, running: list[subprocess.Popen[bytes]]) -> tuple[Outcome, bytes]:
    """Run one step; return its output, too."""
    started = time.monotonic()
    with TemporaryFile() as output, _start(step.command, output) as child:
        running.append(child)
        code = child.wait()
        output.seek(0)
        return Outcome(step.name, code == 0, time.monotonic() - started), output.read()


def _printed(done: Future[tuple[Outcome, bytes]]) -> Outcome:
    """Print the output of a finished step."""
    outcome, output = done.result()
    print(f"\n── {outcome.name}\n{output.decode(errors='replace')}", end="", flush=True)
    return outcome


def _outcomes(steps: Sequence[Step]) -> Iterator[Outcome]:
    """Run steps concurrently, one per core plus those in the background, then the last ones."""
    running: list[subprocess.Popen[bytes]] = []
    with ThreadPoolExecutor(max(_CORES, 2)) as pool, ThreadPoolExecutor() as background_pool:
        try:
            background = [background_pool.submit(_run_quietly, step, running) for step in steps if step.is_background]
            others = [step for step in steps if not step.is_background and not step.is_last]
            for done in as_completed([pool.submit(_run_quietly, step, running) for step in others]):
                yield _printed(done)
            yield from (_run(step) for step in steps if step.is_last)
            yield from map(_printed, as_completed(background))
        except BaseException:
            for each in (pool, background_pool):
                each.shutdown(wait=False, cancel_futures=True)
            for child in running:
                _interrupt(child)
            raise


def verify(steps: tuple[Step, ...]) -> int:
    """Run all steps, even after failures, and print a summary."""
    started = time.monotonic()
    outcomes: list[Outcome] = []
    for outcome in _outcomes(steps):
        print(outcome, flush=True)
        outcomes.append(outcome)
    failed = [outcome.name for outcome in outcomes if not outcome.ok]
    result = f"FAILED: {', '.join(failed)}" if failed else "all well"
    print("", *outcomes, sep="\n")
    print(f"{len(steps)} steps in {time.monotonic() - started:.1f} s: {result}", flush=True)
    return 1 if failed else 0


def main(arguments: list[str]) -> int:
    """Run a plan; `test` with more arguments runs only pytest."""
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
