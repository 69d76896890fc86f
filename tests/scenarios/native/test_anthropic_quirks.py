"""Quirks in the content and the bytes of an answer have the same outcome over Anthropic's API as over OpenRouter's."""

from collections.abc import Iterator

import pytest
from signalbox.chat.loops.retry import Retry
from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.simulator.quirks import QUIRKS, is_of_openrouter

from tests.scenarios.native.native_runs import LOOPS, NativeAsker, NativeRun
from tests.scenarios.quirks.sim_runs import question
from tests.support.running_app import RunningApp, settings_for

NATIVE_QUIRKS = [name for name in QUIRKS if not is_of_openrouter(f"anthropic/sim-quirk-{name}")]


@pytest.fixture(scope="module")
def openrouter_app(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Run one app over the simulator's OpenRouter API."""
    folder = tmp_path_factory.mktemp("openrouter")
    settings = settings_for(folder, openrouter_base_url=simulator.base_url, signalbox_allow_loop_header=True)
    with RunningApp(settings) as running:
        yield running


@pytest.fixture
def ask_openrouter(openrouter_app: RunningApp, simulator: BackgroundSimulator, no_waiting: list[Retry]) -> NativeAsker:
    """Ask the same models over OpenRouter's API."""
    return NativeAsker(openrouter_app, simulator, "/chat/completions", "anthropic")


def seen(run: NativeRun) -> tuple[object, ...]:
    """Return what a client and the provider see of a run, without its words."""
    return run.outcome, run.heard.warnings, set(run.statuses), [call["name"] for call in run.heard.calls]


def test_the_quirks() -> None:
    """Most sections have quirks that do not depend on OpenRouter's chunks."""
    assert {name[0] for name in NATIVE_QUIRKS} == {"a", "b", "d", "e", "f"}
    assert len(NATIVE_QUIRKS) > 60


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", NATIVE_QUIRKS)
def test_the_same_outcome(ask_claude: NativeAsker, ask_openrouter: NativeAsker, name: str, loop: str) -> None:
    """Ending, warnings and calls are those of the same quirk over OpenRouter; no request is rejected."""
    model = f"sim-quirk-{name}"
    native, other = ask_claude(model, question(), loop=loop), ask_openrouter(model, question(), loop=loop)
    assert native.outcome == other.outcome
    assert set(native.statuses) == {200}
    # The legacy loop requests steps whole. A whole message holds arguments as an object, so they are never invalid.
    if loop == "v2" or not name.startswith(("a06", "a07", "a08", "a10")):
        assert seen(native) == seen(other)
