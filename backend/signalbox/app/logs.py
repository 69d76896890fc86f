"""Logs: JSON lines on standard error, one per run, with neither prompt nor key."""

import logging
import sys

import orjson
import structlog
from msgspec import UNSET

from signalbox.runs.run import Run

_log = structlog.get_logger()


def configure_logs(level: str = "info") -> None:
    """Set up structlog for the process."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=_json),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,  # a cached logger could not be captured by tests; a run writes one line
    )


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


def _json(line: object, **_: object) -> str:
    return orjson.dumps(line, default=repr).decode()
