"""Runs with handed calls are replayed with everything that their model received."""

from pathlib import Path

import pytest
from signalbox.app.protocols import PROTOCOLS
from signalbox.commands.replay_setup import Workbench, workbench
from signalbox.core.events import LoopName
from signalbox.core.messages import AssistantMessage
from signalbox.replay.case import Case
from signalbox.replay.case_runner import run_case
from signalbox.replay.differences import differences
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.hand_over.conftest import CLOCK, OURS, asking
from tests.support.ask_protocol import AskClient
from tests.support.running_app import RunningApp, settings_for

pytestmark = pytest.mark.anyio
MODEL = "anthropic/sim-parallel"


async def replayed(bench: Workbench, run_id: str, loop: LoopName) -> tuple[Case, list[str]]:
    """Replay a run on a loop; return its case, and the kinds of the differences from the original."""
    journal = await bench.journal(run_id)
    case = await bench.case(journal, journal.model)
    again = await run_case(case, loop, bench.upstream, bench.recorded(journal))
    assert again.outcome.fault is None
    return case, [one.kind for one in differences(journal.outcome, again.outcome)]


@pytest.mark.parametrize("loop", ["v2", "legacy"])
async def test_both_runs_of_a_handed_loop_are_replayed(
    client: AskClient, simulator: BackgroundSimulator, tmp_path: Path, loop: LoopName
) -> None:
    """The first hands the same call over; the second begins with the stored turn, and continues in one attempt."""
    settings = settings_for(tmp_path, openrouter_base_url=simulator.base_url, openrouter_api_key="k")
    with RunningApp(settings, protocols=(*PROTOCOLS, client.protocol)) as app:
        first = client.send(app, asking(MODEL), *OURS)
        second = client.send(app, asking(MODEL, *first.copy("09:41")), *OURS)
    async with workbench(settings, pace=0.0) as bench:
        case, kinds = await replayed(bench, first.run_id, loop)
        assert case.plan.tools[-1] == CLOCK
        assert set(kinds) <= {"order"}
        case, kinds = await replayed(bench, second.run_id, loop)
        assert set(kinds) <= {"order"}
        turn = case.plan.messages[1]
        assert isinstance(turn, AssistantMessage)
        assert [call.name for call in turn.calls if call.name == "wall_clock"] == ["wall_clock"]
        assert turn.reasoning_details
        assert case.plan.open_loop == len(case.plan.messages) - 1
