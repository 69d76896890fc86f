"""The limits that may end a run. A run that reaches one has not failed: somebody has set the limit."""

from signalbox.core.codes import Code

COST_LIMITS = frozenset({Code.BUDGET_REACHED, Code.BUDGET_EXHAUSTED})
"""The run's own cost limit, and the budgets of its token and group. The answer so far is paid for."""

RUN_LIMITS = COST_LIMITS | {Code.DETACHED_TIMEOUT, Code.RUN_TOO_LARGE}
"""All codes of such runs. Whatever counts failures (logs, metrics, traces, the rollout, statistics) leaves them out."""


def has_failed(status: str | None, code: str | None) -> bool:
    """Return whether an ended run has failed: it ended as `error` or `interrupted`, and not at a limit."""
    return status in ("error", "interrupted") and code not in RUN_LIMITS
