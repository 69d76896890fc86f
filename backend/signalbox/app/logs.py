"""Logs: JSON lines on standard error, one per run, with neither prompt nor key."""

import logging
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import orjson
import structlog
from msgspec import UNSET
from structlog.typing import EventDict, Processor

from signalbox.runs.run import Run

# The same list for good: a logger that is bound keeps it, and so do tests that capture what it says.
_chain: list[Processor] = []
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

    _chain[:] = [
        *([_add_pid] if is_one_of_several else []),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.JSONRenderer(serializer=json),
    ]
    structlog.configure(
        processors=_chain,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,  # a cached logger could not be captured by tests; a run writes one line
    )


def _add_pid(logger: object, method: str, line: EventDict) -> EventDict:
    line["pid"] = os.getpid()
    return line


def run_log() -> Callable[[Run], None]:
    """Return what writes the one line about a run; its logger is bound here, once, and not for each run."""
    return partial(_log_run, structlog.get_logger().bind())


def _log_run(_log: Any, run: Run) -> None:
    done = run.done
    if done is None:
        return
    context, progress = run.context, run.progress
    usage, flags = None if done.usage is UNSET else done.usage, context.flags
    _log.info(
        "run",
        run_id=context.run_id,
        status=done.status,
        code=None if done.code is UNSET else done.code,
        model=context.model,
        provider=None if done.provider is UNSET else done.provider,
        loop=flags.loop,
        flag=flags.flag.reason if flags.flag else None,
        steps=progress.steps,
        attempts=len(progress.attempts),
        events=run.seq,
        seconds=round((run.ended or run.started) - run.started, 3),
        input=usage.input if usage else None,
        output=usage.output if usage else None,
        cost=None if done.cost is UNSET else done.cost,
        simulated=flags.simulated,
    )
