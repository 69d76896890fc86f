"""The JSON body of a request that starts a rollout."""

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.intakes.v1_schema import Strict
from signalbox.rollout.plan import DEFAULT_HOLDBACK, DEFAULT_STAGES, Stage

_MOST_STAGES = 20


class RolloutStage(Strict):
    """One stage of a rollout."""

    percent: Annotated[int, Field(ge=1, le=100)] = Field(description="The percentage of conversations on V2.")
    minutes: Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)] = Field(
        default=60, description="How long the stage lasts at least."
    )
    runs: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        default=200, description="How many V2 runs the stage needs at least."
    )


class StartRollout(Strict):
    """A rollout plan. Without fields, V2 is raised to 5, 25, 50 and 100 percent."""

    mode: Literal["guard", "observe"] = Field(
        default="guard",
        description="`guard` sets the flag. `observe` compares the loops at the percentage of the flag, and reports; "
        "it has neither `stages` nor `holdback`.",
    )
    stages: Annotated[list[RolloutStage], Field(min_length=1, max_length=_MOST_STAGES)] = Field(
        default_factory=lambda: [RolloutStage(percent=one.percent) for one in DEFAULT_STAGES],
        description="Each stage has a higher percentage than the one before.",
    )
    holdback: Annotated[int, Field(ge=0, le=50)] = Field(
        default=DEFAULT_HOLDBACK,
        description="The percentage of conversations that stay on legacy in every stage, at least.",
    )

    def check(self) -> None:
        """Check that the percentages rise, and that only the mode `guard` has them; raises RequestError."""
        if self.mode == "observe":
            self._check_observe()
            return
        field = "stages" if "stages" in self.model_fields_set else "holdback"
        shares = [min(one.percent, 100 - self.holdback) for one in self.stages]
        for earlier, later in pairwise(shares):
            if later <= earlier:
                words = (
                    f"stages must have rising percentages, but {later} follows {earlier}. With a holdback of "
                    f"{self.holdback}, a stage has at most {100 - self.holdback} percent."
                )
                raise RequestError(Code.INVALID_REQUEST, words, field)
        if shares[0] == 100:
            words = "stages must begin below 100 percent, or holdback must be above 0: V2 is compared with legacy runs."
            raise RequestError(Code.INVALID_REQUEST, words, field)

    def _check_observe(self) -> None:
        for field in ("stages", "holdback"):
            if field in self.model_fields_set:
                words = (
                    f"{field} applies only to the mode guard. In the mode observe, the flag keeps its percentage. "
                    f"Remove {field}."
                )
                raise RequestError(Code.INVALID_REQUEST, words, field)

    @property
    def plan_stages(self) -> tuple[Stage, ...]:
        """The stages of the plan."""
        return tuple(Stage(one.percent, one.minutes, one.runs) for one in self.stages)
