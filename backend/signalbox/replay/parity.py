"""Runs one question on both loops and explains their differences."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from signalbox.core.events import LoopName
from signalbox.core.ports import ChatClient, ToolRunner
from signalbox.replay.case import Case
from signalbox.replay.differences import Difference, Kind, differences
from signalbox.replay.outcome import Outcome
from signalbox.replay.playing import Sleep, play
from signalbox.replay.reasons import explained
from signalbox.replay.recorded import RecordedTools


@dataclass(frozen=True, slots=True)
class Trial:
    """A case with its tools, made anew for each loop; `known` says of this one case what must differ, and why.

    `about` says to a reader which it is, where its name does not.
    """

    case: Case
    tools: Callable[[], ToolRunner]
    known: Mapping[Kind, str] = field(default_factory=dict[Kind, str])
    about: str = ""


@dataclass(frozen=True, slots=True)
class Bench:
    """What trials run on: an upstream for each loop, so that what one has asked changes nothing for the other.

    `by_chance`: a real model answers, which never says the same twice.
    """

    clients: Mapping[LoopName, ChatClient]
    by_chance: bool = False
    sleep: Sleep = asyncio.sleep
    now: Callable[[], datetime] | None = None


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What came of a case on both loops; `unrecorded` names the tools that were called as the journal does not know."""

    name: str
    model: str
    legacy: Outcome
    v2: Outcome
    found: Sequence[Difference]
    unrecorded: Sequence[str] = ()
    about: str = ""

    @property
    def unexpected(self) -> list[Difference]:
        """The differences without a known reason."""
        return [one for one in self.found if not one.is_expected]

    @property
    def expected(self) -> list[Difference]:
        """The explained differences."""
        return [one for one in self.found if one.is_expected]

    @property
    def cost(self) -> float:
        """The cost of both runs in USD, as far as known."""
        return (self.legacy.cost or 0) + (self.v2.cost or 0)


async def judge(trial: Trial, bench: Bench) -> TrialResult:
    """Run a case on the legacy loop, then on V2."""
    outcomes: dict[LoopName, Outcome] = {}
    unrecorded: list[str] = []
    loops: tuple[LoopName, ...] = ("legacy", "v2")
    for loop in loops:
        tools = trial.tools()
        played = await play(trial.case, loop, bench.clients[loop], tools, sleep=bench.sleep, now=bench.now)
        outcomes[loop] = played.outcome
        unrecorded += tools.unknown if isinstance(tools, RecordedTools) else []
    legacy, v2 = outcomes["legacy"], outcomes["v2"]
    found = explained(differences(legacy, v2), legacy, v2, known=trial.known, by_chance=bench.by_chance)
    return TrialResult(trial.case.name, trial.case.model, legacy, v2, found, unrecorded, trial.about)
