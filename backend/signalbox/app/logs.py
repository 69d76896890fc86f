"""Logs: JSON lines on standard error, one per run, with neither prompt nor key."""

import logging
import os
import sys
from collections.abc import Sequence

import orjson
import structlog
from msgspec import UNSET
from structlog.typing import EventDict

from signalbox.runs.run import Run

_log = structlog.get_logger()
# A shorter one is no secret: striking it out would only make the log unreadable.
_SHORTEST = 8


def configure_logs(level: str = "info", secrets: Sequence[str] = (), *, is_one_of_several: bool = False) -> None:
    """Set up structlog for the process; `secrets` are struck out of whatever is logged (quirk G4).

    Where several processes may serve, each line says which one wrote it.
    """
    hidden = [secret for secret in secrets if len(secret) >= _SHORTEST]

    def json(line: object, **_: object) -> str:
        text = orjson.dumps(line, default=repr).decode()
        for secret in hidden:
            text = text.replace(secret, "[secret]")
        return text

    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            *([_add_pid] if is_one_of_several else []),
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=json),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,  # a cached logger could not be captured by tests; a run writes one line
    )


def _add_pid(logger: object, method: str, line: EventDict) -> EventDict:
    line["pid"] = os.getpid()
    return line


def log_run(run: Run) -> None:
    """Write the one line about a run."""
    done = run.done
    if done is None:
        return
    usage = run.progress.usage
    _log.info(
        "run",
        run_id=run.id,
        status=done.status,
        code=None if done.code is UNSET else done.code,
        model=run.context.model,
        provider=None if done.provider is UNSET else done.provider,
        loop=run.context.flags.loop,
        flag=run.context.flags.flag.reason if run.context.flags.flag else None,
        steps=run.progress.steps,
        attempts=len(run.progress.attempts),
        events=run.seq,
        seconds=round((run.ended or run.started) - run.started, 3),
        input=usage.input if usage else None,
        output=usage.output if usage else None,
        cost=usage.cost if usage else None,
        simulated=run.context.flags.simulated,
    )
