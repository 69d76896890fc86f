"""Logs of modules that run in the server and in other programs."""

import logging
import sys
from typing import Any

_LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class Log:
    """Logs through structlog if the process has configured it, as the server does, else by the standard library."""

    def __init__(self, name: str) -> None:
        self._name = name

    def info(self, event: str, **fields: object) -> None:
        """Log an event that needs no action."""
        self._write("info", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        """Log something that went wrong and was handled."""
        self._write("warning", event, fields)

    def error(self, event: str, **fields: object) -> None:
        """Log something that someone should look at."""
        self._write("error", event, fields)

    def _write(self, level: str, event: str, fields: dict[str, object]) -> None:
        structlog: Any = sys.modules.get("structlog")
        if structlog is not None and structlog.is_configured():
            getattr(structlog.get_logger(), level)(event, **fields)
        else:
            words = " ".join(f"{name}={value!r}" for name, value in fields.items())
            logging.getLogger(self._name).log(_LEVELS[level], "%s %s", event, words)
