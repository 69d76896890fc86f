"""The decisions of a run in the log, at the level `debug`: attempts, retries, reused and limited searches, finalize.

No line has content: names of tools are logged only if they are ours, because a model can invent names.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from signalbox.chat.calls.running_call import RunningCall
from signalbox.chat.loops.progress import Attempt
from signalbox.chat.observer import NO_HEADERS, RunObserver
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Warning


class RunDecisions(RunObserver):
    """Logs the decisions of one run. `only_upstream` names the upstream if no file configures several."""

    def __init__(self, run_id: str, only_upstream: str) -> None:
        self._log: Any = structlog.get_logger().bind(run_id=run_id)
        self._only_upstream = only_upstream

    def attempt_began(self, attempt: Attempt) -> Mapping[str, str]:  # noqa: D102
        self._log.debug(
            "run.attempt_started",
            **_place(attempt),
            finalize=attempt.final,
            model=attempt.model,
            upstream=attempt.upstream or self._only_upstream,
            messages=attempt.messages,
            tools=len(attempt.tools),
            changes=len(attempt.changes),
        )
        return NO_HEADERS

    def attempt_ended(self, attempt: Attempt) -> None:  # noqa: D102
        usage = attempt.usage
        self._log.debug(
            "run.attempt_finished",
            **_place(attempt),
            code=attempt.code,
            seconds=None if attempt.ended is None else round(attempt.ended - attempt.started, 3),
            first_part=None if attempt.first_part is None else round(attempt.first_part - attempt.started, 3),
            input=usage.input if usage else None,
            output=usage.output if usage else None,
        )

    def upstreams_skipped(self, names: Sequence[str]) -> None:  # noqa: D102
        self._log.debug("run.upstreams_skipped", upstreams=[*names])

    def retry_planned(self, error: UpstreamError, wait: float, warnings: Sequence[AnyEvent]) -> None:  # noqa: D102
        codes = [str(one.code) for one in warnings if isinstance(one, Warning)]
        self._log.debug("run.retry_planned", code=str(error.code), wait=round(wait, 3), changes=codes)

    def tool_began(self, call: RunningCall) -> Mapping[str, str]:  # noqa: D102
        self._log.debug("run.tool_started", call_id=call.id, tool=_name(call), step=call.step)
        return NO_HEADERS

    def tool_ended(self, call: RunningCall) -> None:  # noqa: D102
        code = call.outcome.code if call.outcome is not None else None
        self._log.debug(
            "run.tool_finished",
            call_id=call.id,
            tool=_name(call),
            step=call.step,
            code=None if code is None else str(code),
            reused=call.cached,
            limited=code is Code.TOOL_CLAMP,
        )


def _place(attempt: Attempt) -> dict[str, object]:
    return {"step": attempt.step, "attempt": attempt.number, "call_id": attempt.tool_call or None}


def _name(call: RunningCall) -> str | None:
    return call.name if call.spec is not None else None
