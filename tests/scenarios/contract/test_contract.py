"""The contract's one source and what is generated from it say the same, and the checker accepts it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from signalbox.core.events import AnyEvent
from signalbox.encoders.check import first_stream_fault, schema

from scripts.contract import ROOT, SCHEMA, TYPES, stale_files
from tests.scenarios.contract.golden import FIXTURES, SCENARIOS

GOLDEN = sorted(FIXTURES.glob("*.sse"))


def test_nothing_generated_is_stale() -> None:
    """Schema and golden streams are what core/events.py and the loop make today."""
    assert [path.name for path in stale_files()] == [], "run `just contract`"


def test_the_types_are_not_stale(tmp_path: Path) -> None:
    """The page's types are what the schema makes today."""
    node = shutil.which("node")
    if node is None or not (ROOT / "frontend" / "node_modules").is_dir():
        if os.environ.get("CI") == "true":
            pytest.fail("CI has no node or no node_modules")
        pytest.skip("no node here")
    out = tmp_path / "events.ts"
    subprocess.run([node, "scripts/types.mjs", str(SCHEMA), str(out)], cwd=ROOT / "frontend", check=True, timeout=60)
    assert out.read_text() == TYPES.read_text(), "run `just contract`"


def test_every_scenario_has_its_stream() -> None:
    """One file for each, and none besides."""
    assert {path.stem for path in GOLDEN} == set(SCENARIOS)


def test_the_golden_streams_show_every_event() -> None:
    """Together they hold each type of event, so that a client tested on them has met all."""
    whole = b"".join(path.read_bytes() for path in GOLDEN)
    for member in AnyEvent.__args__:
        tag = str(member.__struct_config__.tag)
        assert f'{{"type":"{tag}"'.encode() in whole, tag


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_streams_are_valid(path: Path) -> None:
    """The checker accepts each, and counts its frames."""
    data = path.read_bytes()
    assert first_stream_fault(data) == (None, data.count(b"\n\n"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_streams_end_with_a_line(path: Path) -> None:
    """LF only, UTF-8, one blank line behind each frame, no null anywhere outside of results."""
    data = path.read_bytes()
    assert b"\r" not in data
    assert data.endswith(b"\n\n")
    data.decode("utf-8")


def test_the_schema_knows_the_seven_types() -> None:
    """No more and no fewer."""
    mapping = schema()["discriminator"]["mapping"]  # type: ignore[index,call-overload]
    assert set(mapping) == {"reasoning", "tool_calls", "tool_executing", "tool_result", "content", "warning", "done"}  # type: ignore[arg-type]
