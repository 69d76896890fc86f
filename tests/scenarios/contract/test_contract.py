"""Generated files of the contract match core/events.py, and the checker accepts the golden streams."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from signalbox.core.events import ContractEvent
from signalbox.encoders.check import first_stream_fault, schema

from scripts.contract import GENERATED_TYPES, ROOT, stale_files
from tests.scenarios.contract.golden import FIXTURES, SCENARIOS

GOLDEN = sorted(FIXTURES.glob("*.sse"))


def test_nothing_generated_is_stale() -> None:
    """Schema and golden streams match core/events.py and the loop."""
    assert [path.name for path in stale_files()] == [], "run `just contract`"


@pytest.mark.parametrize(("schema_file", "types"), GENERATED_TYPES.items(), ids=["events", "DataTable"])
def test_the_types_are_not_stale(schema_file: Path, types: Path, tmp_path: Path) -> None:
    """The page's TypeScript types match the schemas."""
    node = shutil.which("node")
    if node is None or not (ROOT / "frontend" / "node_modules").is_dir():
        if os.environ.get("CI") == "true":
            pytest.fail("CI has no node or no node_modules")
        pytest.skip("no node here")
    out = tmp_path / "types.ts"
    command = [node, "scripts/types.mjs", str(schema_file), str(out)]
    subprocess.run(command, cwd=ROOT / "frontend", check=True, timeout=60)
    assert out.read_text() == types.read_text(), "run `just contract`"


def test_every_scenario_has_its_stream() -> None:
    """Each scenario has one file, and there are no other files."""
    assert {path.stem for path in GOLDEN} == set(SCENARIOS)


def test_the_golden_streams_show_every_event() -> None:
    """Together they contain every event type, so a client that is tested with them has seen all."""
    whole = b"".join(path.read_bytes() for path in GOLDEN)
    for member in ContractEvent.__args__:
        tag = str(member.__struct_config__.tag)
        assert f'{{"type":"{tag}"'.encode() in whole, tag


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_streams_are_valid(path: Path) -> None:
    """The checker accepts each stream and counts its frames."""
    data = path.read_bytes()
    assert first_stream_fault(data) == (None, data.count(b"\n\n"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_streams_end_with_a_line(path: Path) -> None:
    """Streams have LF only, UTF-8, one blank line after each frame, and no null outside results."""
    data = path.read_bytes()
    assert b"\r" not in data
    assert data.endswith(b"\n\n")
    data.decode("utf-8")


def test_the_schema_knows_the_eight_types() -> None:
    """The schema has exactly the eight event types."""
    mapping = schema()["discriminator"]["mapping"]  # type: ignore[index,call-overload]
    types = "reasoning preview tool_calls tool_executing tool_result content warning done"
    assert set(mapping) == set(types.split())  # type: ignore[arg-type]
