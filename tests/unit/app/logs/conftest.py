"""Logs over HTTP."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import orjson
import pytest
import structlog
from signalbox.app.logs.setup import configure_logs

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def logging_as(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Lines]]:
    """Configure logs as a process does: `logging_as(level, secrets)`, and read what was written as JSON."""
    before = structlog.get_config()

    def lines() -> list[dict[str, Any]]:
        return [orjson.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]

    def start(level: str = "info", secrets: Sequence[str] = ()) -> Lines:
        configure_logs(level, secrets)
        return lines

    yield start
    structlog.configure(**before)
