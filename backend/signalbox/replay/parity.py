"""Runs a case on both loops and explains the differences."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from signalbox.core.events import LoopName
from signalbox.core.ports import ChatClient, ToolRunner
from signalbox.replay.case import Case
from signalbox.replay.case_runner import Sleep, run_case
from signalbox.replay.differences import Difference, Kind, differences
from signalbox.replay.outcome import Outcome
from signalbox.replay.reasons import explain
from signalbox.replay.recorded_tools import RecordedTools


@dataclass(frozen=True, slots=True)
class Trial:
    """A case to be run on both loops; `tools` makes new tools for each loop.

    `known`: kinds of difference that are expected for this case, with their reasons.
    `about`: describes the case in the report if its name does not.
    """

    case: Case
    tools: Callable[[], ToolRunner]
    known: Mapping[Kind, str] = field(default_factory=dict[Kind, str])
    about: str = ""


@dataclass(frozen=True, slots=True)
class TrialSetup:
    """What trials run with. Each loop has a separate upstream, so the requests of one cannot affect the other.

    `by_chance`: a real model answers, so its words and calls may differ by chance.
    """

    clients: Mapping[LoopName, ChatClient]
    by_chance: bool = False
    sleep: Sleep = asyncio.sleep
    now: Callable[[], datetime] | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a case differs on both loops; `unrecorded` names the tools of calls that are not in the journal."""

    name: str
    model: str
    found: Sequence[Difference]
    unrecorded: Sequence[str] = ()
    about: str = ""

    @property
    def unexpected(self) -> list[Difference]:
        """The differences without a reason."""
        return [one for one in self.found if not one.is_expected]

    @property
    def expected(self) -> list[Difference]:
        """The differences that have a reason."""
        return [one for one in self.found if one.is_expected]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult(Comparison):
    """The comparison of a case that was run on both loops, with both outcomes."""

    legacy: Outcome
    v2: Outcome

    @property
    def cost(self) -> float:
        """The known cost of both runs in USD."""
        return (self.legacy.cost or 0) + (self.v2.cost or 0)


async def run_trial(trial: Trial, setup: TrialSetup) -> TrialResult:
    """Run a case on the legacy loop, then on V2."""
    outcomes: dict[LoopName, Outcome] = {}
    unrecorded: list[str] = []
    loops: tuple[LoopName, ...] = ("legacy", "v2")
    for loop in loops:
        tools = trial.tools()
        result = await run_case(trial.case, loop, setup.clients[loop], tools, sleep=setup.sleep, now=setup.now)
        outcomes[loop] = result.outcome
        unrecorded += tools.unknown if isinstance(tools, RecordedTools) else []
    legacy, v2 = outcomes["legacy"], outcomes["v2"]
    found = explain(differences(legacy, v2), legacy, v2, known=trial.known, by_chance=setup.by_chance)
    return TrialResult(trial.case.name, trial.case.model, found, unrecorded, trial.about, legacy=legacy, v2=v2)
