"""Patterns and schemas of a set: they end in time, and read no file."""

import asyncio
from pathlib import Path
from time import monotonic

from signalbox.evals.bounded import Job, run_bounded

EVIL = Job("pattern", r"^(a+)+$", "a" * 60 + "!")


def test_a_pattern_that_backtracks_is_stopped() -> None:
    """It would run for years. Jobs before it have an outcome, jobs after it were not checked."""
    jobs = [Job("pattern", "b", "abc"), EVIL, Job("pattern", "c", "abc")]
    started = monotonic()
    found = asyncio.run(run_bounded(jobs, seconds=0.5))
    assert monotonic() - started < 5
    assert found == [None, "took longer than 0.5 seconds", "was not checked"]


def test_a_pattern_inside_of_a_schema_is_stopped_too() -> None:
    """A schema can contain the same patterns."""
    job = Job("schema", {"type": "string", "pattern": EVIL.rule}, EVIL.value)
    assert asyncio.run(run_bounded([job], seconds=0.5)) == ["took longer than 0.5 seconds"]


def test_a_schema_reads_neither_files_nor_the_network(tmp_path: Path) -> None:
    """A `$ref` that leads out of the set is a fault of the schema."""
    (tmp_path / "any.json").write_text("{}")
    jobs = [
        Job("schema", {"$ref": (tmp_path / "any.json").as_uri()}, 1),
        Job("schema", {"$ref": "http://127.0.0.1:9/any.json"}, 1),
        Job("schema", {"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}, 1),
    ]
    first, second, third = asyncio.run(run_bounded(jobs))
    assert first is not None
    assert first.startswith("cannot be checked")
    assert second is not None
    assert second.startswith("cannot be checked")
    assert third is None


def test_outcomes_have_reasons() -> None:
    """What does not hold says why; without jobs no process is started."""
    jobs = [Job("pattern", "x", "abc"), Job("schema", {"properties": {"a": {"type": "string"}}}, {"a": 1})]
    assert asyncio.run(run_bounded(jobs)) == ["no match", "$.a: 1 is not of type 'string'"]
    assert asyncio.run(run_bounded([])) == []
