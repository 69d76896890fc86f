"""The log lines of a run: one at its start, one at its end."""

from collections.abc import Callable
from typing import Any

import structlog
from msgspec import UNSET

from signalbox.app.logs.run_decisions import RunDecisions
from signalbox.chat.context import ConversationContext
from signalbox.chat.observer import RunObserver
from signalbox.core.bounds.run_limits import has_failed
from signalbox.core.codes import Code
from signalbox.core.conversations import shown_id
from signalbox.core.records import RunRecord
from signalbox.runs.run import Run

# Failures that only the operator can fix.
_OPERATORS = frozenset({Code.INTERNAL, Code.UPSTREAM_AUTH, Code.UPSTREAM_CREDITS})


class RunLog:
    """Logs starts and ends of runs, with a logger that is bound once; with `has_decisions`, the decisions too.

    `only_upstream` names the upstream if no file configures several.
    """

    def __init__(self, only_upstream: str, *, has_decisions: bool = False) -> None:
        self._log: Any = structlog.get_logger().bind()
        self._only_upstream = only_upstream
        self._has_decisions = has_decisions

    def started(self, run: Run) -> RunObserver | None:
        """Log the start of a run with its ids, model and loop."""
        flags = run.context.flags
        self._log.info(
            "run.started",
            **_ids(run.opening, run.context),
            upstream=run.context.destination.upstream or self._only_upstream,
            model=run.context.model,
            loop=flags.loop,
            flag=flags.flag.reason if flags.flag else None,
            simulated=flags.simulated,
        )
        return RunDecisions(run.id, self._only_upstream) if self._has_decisions else None

    def over(self, run: Run) -> None:
        """Log the end of a run with its figures. If another worker ended it, that worker logs it."""
        done = run.done
        if done is None or run.journal.is_lost:
            return
        context, progress = run.context, run.progress
        usage, flags = None if done.usage is UNSET else done.usage, context.flags
        code = None if done.code is UNSET else done.code
        self._at(done.status, code)(
            "run.finished",
            **_ids(run.opening, context),
            status=done.status,
            code=code,
            upstream=progress.upstream or context.destination.upstream or self._only_upstream,
            model=context.model,
            fallback_model=progress.fallback_model,
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

    def recovered(self, record: RunRecord) -> None:
        """Log the end of a run that a crash interrupted."""
        self._at(record.status, record.code)(
            "run.finished",
            **_ids(record, None),
            status=record.status,
            code=record.code,
            upstream=record.upstream or record.origin.get("upstream") or self._only_upstream,
            model=record.model,
            fallback_model=record.answered,
            loop=record.loop,
            steps=record.steps,
            attempts=len(record.attempts),
            cost=record.cost,
            recovered=True,
        )

    def _at(self, status: str | None, code: str | None) -> Callable[..., None]:
        return getattr(self._log, level_of(status, code))


def level_of(status: str | None, code: str | None) -> str:
    """Return the level of a run's last line: info, or warning or error for failures."""
    if not has_failed(status, code):
        return "info"
    return "error" if status == "error" and code in _OPERATORS else "warning"


def _ids(record: RunRecord, context: ConversationContext | None) -> dict[str, str | None]:
    """Return the ids of a run, its request, its trace, its owner and its conversation, and the client's protocol.

    There is no context for a run that a crash interrupted.
    """
    return {
        "run_id": record.id,
        "request_id": (context.request_id if context else record.origin.get("request_id")) or None,
        "trace_id": (context.trace_id if context else record.origin.get("trace_id")) or None,
        "owner": record.owner or None,
        "conversation_id": shown_id(record.conversation_id) if record.conversation_id else None,
        "protocol": record.protocol,
    }
