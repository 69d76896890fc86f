"""Logging setup: lines on standard error, from structlog and the standard library, without prompts and keys."""

import logging
import os
import sys
import threading
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TextIO, cast

import structlog
from structlog.typing import EventDict, Processor

from signalbox.app.logs.formats import FORMATS, LogFormat, as_json
from signalbox.app.logs.redaction import Redactor, describe, without_values

# Always the same list: bound loggers and tests that capture logs keep a reference to it.
_chain: list[Processor] = []
_secrets_of_embedded: set[str] = set()


def configure_logs(
    level: str = "info",
    secrets: Sequence[str] = (),
    *,
    is_one_of_several: bool = False,
    log_format: LogFormat = "json",
) -> None:
    """Set up the logs of this process; `secrets` are redacted from every log line (quirk G4).

    Records of the standard library's loggers (uvicorn, asyncio, SQLAlchemy) become the same lines, from warnings up.
    If several processes may serve, each line has its process id.
    """
    number = logging.getLevelNamesMapping()[level.upper()]
    redactor, render = Redactor(secrets), FORMATS[log_format]

    def write(logger: object, method: str, line: EventDict) -> str:
        return redactor.clean(render(line))

    _chain[:] = [
        *([_add_pid] if is_one_of_several else []),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _describe_error,
        write,
    ]
    structlog.configure(
        processors=_chain,
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(cast(TextIO, _StandardError())),
        cache_logger_on_first_use=False,  # a cached logger could not be captured by tests; a run writes two lines
    )
    _capture_standard_logs(max(number, logging.WARNING))


def log_through_host(secrets: Sequence[str]) -> None:
    """Send log lines to the logger `signalbox` of the standard library, unless the host has configured structlog.

    The lines are JSON without the secrets of this app, and of others in this process.
    """
    if structlog.is_configured() and not _secrets_of_embedded:
        return
    _release_standard_logs()  # of a server in this process before: it would send each line back to structlog, for ever
    _secrets_of_embedded.update(secrets)
    redactor = Redactor([*_secrets_of_embedded])

    def json(line: EventDict, **_: object) -> str:
        return redactor.clean(as_json(line))

    structlog.configure(
        processors=[_describe_error, structlog.processors.JSONRenderer(serializer=json)],
        wrapper_class=structlog.make_filtering_bound_logger(logging.NOTSET),
        logger_factory=lambda *_: logging.getLogger("signalbox"),
        cache_logger_on_first_use=False,
    )


def log_what_python_prints() -> None:
    """Log what Python would print to standard error in full: uncaught errors, and warnings of the module `warnings`.

    Only for a process that Signalbox started: test runners and other hosts set these hooks too.
    """
    sys.excepthook = _uncaught
    sys.unraisablehook = lambda fault: _log().error("process.unraisable_exception", exc_info=fault.exc_value)
    threading.excepthook = _uncaught_in_thread
    warnings.showwarning = _show_warning


def _log() -> structlog.typing.FilteringBoundLogger:
    return structlog.get_logger()


# --- lines --------------------------------------------------------------------------------------------------------


class _StandardError:
    """The current standard error; write errors are ignored, since they cannot be reported."""

    def write(self, text: str) -> None:
        """Write a line in one call."""
        with suppress(OSError, ValueError):  # a full disk or a closed pipe must not break the request that is logged
            sys.stderr.write(text)

    def flush(self) -> None:
        """Flush."""
        with suppress(OSError, ValueError):
            sys.stderr.flush()


def _add_pid(logger: object, method: str, line: EventDict) -> EventDict:
    line["pid"] = os.getpid()
    return line


def _describe_error(logger: object, method: str, line: EventDict) -> EventDict:
    """Replace `exc_info` by the error's type and frames."""
    given = line.pop("exc_info", None)
    error = given if isinstance(given, BaseException) else sys.exc_info()[1] if given is True else None
    return {**line, **describe(error)} if error is not None else line


# --- records of the standard library ------------------------------------------------------------------------------


class _StandardHandler(logging.Handler):
    """Logs a record of the standard library through structlog."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log the record."""
        error = record.exc_info[1] if record.exc_info else None
        _log().log(record.levelno, _message_of(record), logger=record.name, exc_info=error)


def _capture_standard_logs(level: int) -> None:
    _release_standard_logs()
    logging.getLogger().addHandler(_StandardHandler(level))


def _release_standard_logs() -> None:
    root = logging.getLogger()
    for handler in root.handlers[:]:
        if isinstance(handler, _StandardHandler):
            root.removeHandler(handler)


def _message_of(record: logging.LogRecord) -> str:
    """Return a record's message with only its numeric arguments: others may contain a prompt."""
    if not isinstance(record.msg, str):
        return f"<{type(record.msg).__name__}>"
    if not record.args:
        return without_values(record.msg)
    given = record.args if isinstance(record.args, tuple) else (record.args,)
    shown = tuple(one if isinstance(one, int | float) else _shown(one) for one in given)
    try:
        return without_values(record.msg % shown)
    except (TypeError, ValueError, KeyError):
        return without_values(record.msg)


def _shown(value: object) -> str:
    return type(value).__name__ if isinstance(value, BaseException) else "…"


def _uncaught(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
    else:
        _log().critical("process.uncaught_exception", exc_info=error)


def _uncaught_in_thread(told: threading.ExceptHookArgs) -> None:
    if not issubclass(told.exc_type, SystemExit):
        _log().error(
            "thread.uncaught_exception", thread=told.thread.name if told.thread else None, exc_info=told.exc_value
        )


def _show_warning(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object) -> None:
    where = f"{'/'.join(Path(filename).parts[-2:])}:{lineno}"
    _log().warning("python.warning", category=category.__name__, where=where, message=without_values(str(message)))
