"""The first start's `.env`."""

import stat
from pathlib import Path

import pytest

from scripts import first_start


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        ("A=1\nTOOL_LOOP_V2=false\nB=2\n", "A=1\nTOOL_LOOP_V2=true\nB=2\n"),
        ("A=1\n# TOOL_LOOP_V2=off\nB=2\n", "A=1\nTOOL_LOOP_V2=true\nB=2\n"),
        ("TOOL_LOOP_V2=\n", "TOOL_LOOP_V2=true\n"),
        ("A=1\n# about TOOL_LOOP_V2\n", "A=1\n# about TOOL_LOOP_V2\nTOOL_LOOP_V2=true\n"),
        ("", "TOOL_LOOP_V2=true\n"),
    ],
)
def test_the_v2_loop_is_switched_on(example: str, expected: str) -> None:
    """The setting's own line is set, commented out or not; without one it is added; the rest stays."""
    assert first_start.with_v2(example) == expected


def test_env_is_written_for_this_user_alone(tmp_path: Path) -> None:
    """A key will stand in it: nobody else may read it."""
    (tmp_path / ".env.example").write_text("OPENROUTER_API_KEY=\n", encoding="utf-8")
    assert first_start.write_env(tmp_path)
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert "TOOL_LOOP_V2=true" in (tmp_path / ".env").read_text(encoding="utf-8")


def test_an_env_that_is_there_is_left_alone(tmp_path: Path) -> None:
    """A second start changes nothing."""
    (tmp_path / ".env.example").write_text("A=1\n", encoding="utf-8")
    (tmp_path / ".env").write_text("MINE=1\n", encoding="utf-8")
    assert not first_start.write_env(tmp_path)
    assert (tmp_path / ".env").read_text(encoding="utf-8") == "MINE=1\n"


def test_without_an_example_nothing_is_written(tmp_path: Path) -> None:
    """No example, no `.env`."""
    assert not first_start.write_env(tmp_path)
    assert list(tmp_path.iterdir()) == []
