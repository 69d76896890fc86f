"""Matches regular expressions and JSON Schemas of a set in a child process, which is killed after a time limit.

A pattern that backtracks can take years on the text of a model. Python can neither limit nor interrupt it in a thread.
"""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from signalbox.core.messages import JsonValue

SECONDS = 5.0
_START_SECONDS = 60.0
_PROGRAM = Path(__file__).with_name("bounded_child.py")


@dataclass(frozen=True, slots=True)
class Job:
    """A pattern to find in a text, or a schema that a value must match."""

    kind: str
    rule: JsonValue
    value: JsonValue


async def run_bounded(jobs: Sequence[Job], seconds: float = SECONDS) -> list[str | None]:
    """Return for each job None if it holds, else what is wrong; `seconds` is the limit for all of them."""
    if not jobs:
        return []
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", str(_PROGRAM)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=2**20,
    )
    found: list[str | None] = []
    try:
        async with asyncio.timeout(_START_SECONDS):
            outcomes = await _started(child, jobs)
        async with asyncio.timeout(seconds):
            async for line in outcomes:
                found.append(msgspec.json.decode(line, type=str | None))  # noqa: PERF401 - an interruption keeps them
    except TimeoutError:
        found.append(f"took longer than {seconds:g} seconds")
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    return [*found, *["was not checked"] * (len(jobs) - len(found))]


async def _started(child: asyncio.subprocess.Process, jobs: Sequence[Job]) -> asyncio.StreamReader:
    """Send the jobs, and wait until the child works on them: the time limit is not for its start."""
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(msgspec.json.encode([[job.kind, job.rule, job.value] for job in jobs]))
    child.stdin.close()
    await child.stdout.readline()
    return child.stdout
