"""The JSON of responses about the rollout, as types."""

from typing import Annotated, TypedDict

from msgspec import Meta

from signalbox.rollout.outcomes import Metric
from signalbox.rollout.plan import Mode, State
from signalbox.runs.trace import EpochSeconds


class PlannedStage(TypedDict):
    """One stage of a plan."""

    percent: int
    minutes: float
    runs: int


class RolloutPlan(TypedDict):
    """A rollout plan and how far it is."""

    id: str
    mode: Mode
    stages: list[PlannedStage]
    holdback: int
    state: State
    stage: Annotated[int, Meta(description="The current stage, counted from 1.")]
    percent: Annotated[int, Meta(description="The percentage of conversations on V2 in the current stage.")]
    watched: Annotated[bool, Meta(description="Whether V2 is compared with V2 of the stage before.")]
    started: EpochSeconds
    stage_started: EpochSeconds


class RolloutTally(TypedDict):
    """The runs of one loop."""

    runs: int
    error: int
    interrupted: int
    empty: int
    first_token_ms: Annotated[float | None, Meta(description="The mean time to the first token.")]
    cost: Annotated[float | None, Meta(description="The mean cost in USD.")]


class RolloutLoops(TypedDict):
    """The runs of both loops."""

    v2: RolloutTally
    legacy: RolloutTally


class RolloutFinding(TypedDict):
    """The metric with the strongest evidence that V2 is worse; rates are from 0 to 1."""

    metric: Metric
    family: Annotated[str | None, Meta(description="The family of models; null for all runs.")]
    evidence: float
    v2_runs: int
    v2_rate: float
    legacy_runs: int
    legacy_rate: float


class RolloutMissing(TypedDict):
    """What the stage still needs before it can be promoted."""

    v2_runs: Annotated[
        int | None,
        Meta(
            description="The V2 runs. After the planned runs, an estimate of how many exclude harm if the rates stay "
            "the same; null if no number would."
        ),
    ]
    legacy_runs: int
    minutes: float


class RolloutWatch(TypedDict):
    """The evidence that V2 has become worse than in the stage before; the rollout steps back at the threshold."""

    evidence: float
    threshold: float


class RolloutReport(TypedDict):
    """What the guard found when it last looked."""

    assessment: str
    missing: Annotated[
        RolloutMissing | None, Meta(description="What is missing; null if V2 is worse, or if nothing is compared.")
    ]
    evidence: Annotated[float, Meta(description="The evidence that V2 is worse, over all metrics; starts at 1.")]
    threshold: Annotated[float, Meta(description="The evidence at which V2 is taken back.")]
    watch: Annotated[
        RolloutWatch | None, Meta(description="In the stage of 100 percent and after the last stage; otherwise null.")
    ]
    strongest: RolloutFinding
    tests: Annotated[dict[str, dict[str, float]], Meta(description="The evidence per metric and window.")]
    figures: Annotated[dict[str, RolloutLoops], Meta(description="The runs per window: `1m`, `10m` and `stage`.")]
    at: EpochSeconds


class RolloutState(TypedDict):
    """The rollout."""

    plan: Annotated[RolloutPlan | None, Meta(description="The latest plan; null if there never was one.")]
    assessment: Annotated[str, Meta(description="What happens now and why, as a sentence.")]
    report: Annotated[RolloutReport | None, Meta(description="The latest report about this plan.")]
