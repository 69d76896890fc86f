"""Removes rules from a copy of the working tree, one at a time, and shows that their tests fail."""

import argparse
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from time import monotonic

from tests.conftest import recordings_folder
from tests.scenarios.quirks.mutations import MUTATIONS, ROOT, Mutation, named_tests

# Without a rule that limits a wait, its tests may hang; that counts as failed.
_LONGEST = 180.0


class Seen(Enum):
    """The outcome of the tests.

    `BROKEN`: pytest itself failed, so nothing was shown.
    """

    RED = "red"
    HUNG = "red (hung)"
    GREEN = "GREEN"
    BROKEN = "BROKEN"
    STALE = "STALE"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One rule, what its tests said without it, how long that took, and the last line of it."""

    mutation: Mutation
    seen: Seen
    seconds: float
    said: str

    @property
    def is_red(self) -> bool:
        """Whether the rule is held by a test."""
        return self.seen in (Seen.RED, Seen.HUNG)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="just mutate", description=__doc__)
    parser.add_argument("--count", type=int, default=10, help="rules to take out (10)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000), help="the same seed, the same rules")
    parser.add_argument("--all", action="store_true", help=f"all {len(MUTATIONS)} rules")
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="all rules of these quirks (A5 B4)")
    return parser.parse_args()


def _chosen(given: argparse.Namespace) -> list[Mutation]:
    if given.only:
        return [mutation for mutation in MUTATIONS if mutation.quirk in given.only]
    if given.all:
        return [*MUTATIONS]
    return random.Random(given.seed).sample(MUTATIONS, min(given.count, len(MUTATIONS)))


@contextmanager
def _copy() -> Iterator[Path]:
    """Copy the working tree to a separate folder: tracked files, and new ones that are not ignored."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        copy = Path(folder)
        for name in filter(None, os.fsdecode(listed).split("\0")):
            if (ROOT / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, copy / name)
        yield copy


@contextmanager
def _without(mutation: Mutation, copy: Path) -> Iterator[None]:
    """Remove a rule from the copy, then restore it."""
    path = mutation.path(copy)
    source = path.read_text(encoding="utf-8")
    path.write_text(mutation.taken_out(source), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(source, encoding="utf-8")


def _pytest(copy: Path, tests: Sequence[str], *, limit: float) -> tuple[Seen, str]:
    """Run tests in the copy; return their outcome.

    No compiled files are stored: they could be those of another rule.
    """
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(copy / "backend"), str(copy)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "SIGNALBOX_RECORDINGS": str(recordings_folder()),
    }
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "--tb=line", *tests]
    process = subprocess.Popen(
        command, cwd=copy, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        said, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Seen.HUNG, f"no end within {limit:g} s"
    lines = [line for line in said.splitlines() if line.strip()] or [""]
    failed = next((line for line in lines if line.startswith(("FAILED", "ERROR"))), lines[-1])
    if process.returncode == 0:
        return Seen.GREEN, lines[-1]
    return (Seen.RED if failed.startswith("FAILED") else Seen.BROKEN), failed


def _try_out(mutation: Mutation, copy: Path) -> Outcome:
    begun = monotonic()
    try:
        with _without(mutation, copy):
            seen, said = _pytest(copy, named_tests(copy)[mutation.quirk], limit=_LONGEST)
    except ValueError as error:
        seen, said = Seen.STALE, str(error)
    return Outcome(mutation, seen, monotonic() - begun, said)


def _row(outcome: Outcome) -> str:
    mutation = outcome.mutation
    rule = f"{mutation.quirk:<4} {mutation.rule}"
    observed = "" if outcome.seen is Seen.RED else f"  {outcome.said[:160]}"
    return f"{rule:<64} {outcome.seen.value:<10} {outcome.seconds:5.1f} s  -k {mutation.expression}{observed}"


def main() -> int:
    """Remove the rules one by one; fail if no test misses one of them, or if one could not be removed."""
    given = _arguments()
    chosen = _chosen(given)
    print(f"seed {given.seed}: {len(chosen)} of {len(MUTATIONS)} rules", flush=True)
    with _copy() as copy:
        tests = sorted({test for mutation in chosen for test in named_tests(copy)[mutation.quirk]})
        begun = monotonic()
        seen, said = _pytest(copy, tests, limit=_LONGEST * len(chosen))
        print(f"with all rules in place: {seen.value}, {monotonic() - begun:.1f} s, {said}", flush=True)
        if seen is not Seen.GREEN:
            return 1
        outcomes: list[Outcome] = []
        for mutation in chosen:
            outcomes.append(_try_out(mutation, copy))
            print(_row(outcomes[-1]), flush=True)
    red = sum(outcome.is_red for outcome in outcomes)
    print(f"{red} of {len(outcomes)} rules have a test that fails without them")
    return 0 if red == len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
