"""The library runs the tool loop over the simulator's Gemini API."""

import pytest
from signalbox import Runner, Upstream
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.native.gemini.gemini_runs import QUESTION, signatures
from tests.support.fakes import make_tool

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("model", ["sim-steps-3", "sim-parallel", "gemini-2.5-flash"])
async def test_a_run_with_tools(simulator: BackgroundSimulator, model: str) -> None:
    """The simulator verifies every signature that the library sends back."""
    simulator.state.requests.clear()
    upstream = Upstream(f"http://{simulator.host}:{simulator.port}/gemini", "any", dialect="gemini")
    tool = make_tool("search_web", lambda arguments, _: f"A page about {arguments.get('query')}.")
    answer = await Runner(upstream, model, QUESTION, tools=[tool]).answer()
    assert answer.status == "complete"
    assert answer.text
    sent = [one.body for one in simulator.state.requests if one.path.endswith("Content")]
    assert len(sent) == (4 if model == "sim-steps-3" else 2)
    assert len(signatures(sent[-1])) == len(sent) - 1
