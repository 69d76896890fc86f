"""The JSON of responses about shadow mode, as types."""

from typing import Annotated, TypedDict

from msgspec import Meta

from signalbox.core.events import LoopName
from signalbox.runs.trace import EpochSeconds
from signalbox.store.shadow_runs import ShadowOutcome


class ShadowDifference(TypedDict):
    """One difference between the loops; `legacy` and `v2` are null if they would quote the run."""

    kind: str
    expected: bool
    why: Annotated[str | None, Meta(description="The known reason of an expected difference.")]
    legacy: str | None
    v2: str | None


class ShadowResult(TypedDict):
    """A run that was made again on `loop`."""

    run_id: str
    at: EpochSeconds
    model: str
    loop: LoopName
    outcome: ShadowOutcome
    cost: Annotated[float, Meta(description="USD; while it is running, what it may cost.")]
    differences: list[ShadowDifference]


class ShadowReport(TypedDict):
    """What shadow mode has found so far, and what it has cost."""

    percent: Annotated[float, Meta(description="SIGNALBOX_SHADOW_PERCENT.")]
    daily_cost: Annotated[float, Meta(description="SIGNALBOX_SHADOW_DAILY_COST.")]
    cost_today: Annotated[float, Meta(description="USD since midnight UTC.")]
    cost: Annotated[float, Meta(description="USD of the last 30 days.")]
    counts: Annotated[dict[ShadowOutcome, int], Meta(description="Runs of the last 30 days by outcome.")]
    newest: Annotated[list[ShadowResult], Meta(description="The newest runs with unexpected differences.")]
