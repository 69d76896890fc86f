"""The first start's `.env`."""

import stat
from pathlib import Path

from scripts import first_start


def test_env_is_written_for_this_user_alone(tmp_path: Path) -> None:
    """Only this user can read it, since it will contain a key. Its content is the example's."""
    (tmp_path / ".env.example").write_text("OPENROUTER_API_KEY=\n", encoding="utf-8")
    assert first_start.write_env(tmp_path)
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert (tmp_path / ".env").read_text(encoding="utf-8") == "OPENROUTER_API_KEY=\n"


def test_an_env_that_is_there_is_left_alone(tmp_path: Path) -> None:
    """An existing `.env` is not changed."""
    (tmp_path / ".env.example").write_text("A=1\n", encoding="utf-8")
    (tmp_path / ".env").write_text("MINE=1\n", encoding="utf-8")
    assert not first_start.write_env(tmp_path)
    assert (tmp_path / ".env").read_text(encoding="utf-8") == "MINE=1\n"


def test_without_an_example_nothing_is_written(tmp_path: Path) -> None:
    """Without an example, no `.env` is written."""
    assert not first_start.write_env(tmp_path)
    assert list(tmp_path.iterdir()) == []
