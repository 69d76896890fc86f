"""The formats of log lines: JSON for collectors, `console` for people."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog
from signalbox.app.logs.formats import as_console
from signalbox.app.logs.setup import configure_logs
from signalbox.app.settings.errors import SettingsError

from tests.support.running_app import settings_for

TIME = "2026-11-28T06:45:18.882827Z"


@pytest.fixture
def as_before() -> Iterator[None]:
    """Restore the logs of the test process."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


def test_a_line_for_people() -> None:
    """Time, level and event come first; a field without a value is left out."""
    line = {"run_id": "ab12", "owner": None, "event": "run.started", "level": "info", "timestamp": TIME, "cost": 0.5}
    assert as_console(line) == f"{TIME} INFO     run.started              run_id=ab12 cost=0.5"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("two words", 'x="two words"'),
        ("a\nWARNING  run.finished", 'x="a\\nWARNING  run.finished"'),
        ("", 'x=""'),
        ("a=b", 'x="a=b"'),
        ('"', 'x="\\""'),
        ("\x1b[2J", 'x="\\u001b[2J"'),
        ("\ud800", "x="),
        (["a", 1], 'x=["a",1]'),
        ({"file": "x.py"}, 'x={"file":"x.py"}'),
        (object(), 'x="<object>"'),
        (False, "x=false"),
    ],
)
def test_values_for_people(value: object, shown: str) -> None:
    """No value can fake a field or a line, or send control characters to a terminal."""
    line = as_console({"event": "e", "level": "info", "timestamp": TIME, "x": value})
    assert shown in line
    assert line.isprintable()


def test_secrets_are_removed_for_people_too(capsys: pytest.CaptureFixture[str], as_before: None) -> None:
    """In every field, and inside quotes."""
    configure_logs("info", ["canary-secret", 'canary"quoted'], log_format="console")
    log: Callable[..., None] = structlog.get_logger().info
    log(
        "e",
        one="canary-secret",
        two="with canary-secret inside",
        three='canary"quoted',
        four="Bearer sk-1234567890abcdef0",
    )
    written = capsys.readouterr().err
    assert written.count("[secret]") == 4
    assert "canary" not in written
    assert "sk-1234567890" not in written


def test_an_exception_has_its_frames_for_people(capsys: pytest.CaptureFixture[str], as_before: None) -> None:
    """And not its message."""
    configure_logs("info", log_format="console")
    try:
        int("canary")
    except ValueError:
        structlog.get_logger().error("e", exc_info=True)
    written = capsys.readouterr().err
    assert "ValueError" in written
    assert "test_formats.py" in written
    assert "canary" not in written
    assert written.count("\n") == 1


def test_an_unknown_format_fails_the_start(tmp_path: Path) -> None:
    """The sentence names the setting and both formats."""
    with pytest.raises(SettingsError, match=r"SIGNALBOX_LOG_FORMAT.*json.*console"):
        settings_for(tmp_path, signalbox_log_format="xml")
