"""Quirks in the content and the bytes of an answer have the same outcome over native APIs as over OpenRouter's."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from signalbox.chat.loops.retry import Retry
from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.simulator.quirks import QUIRKS, is_of_openrouter

from tests.scenarios.native.native_runs import LOOPS, NativeAsker, NativeRun, app_over
from tests.scenarios.quirks.sim_runs import question
from tests.support.running_app import RunningApp, settings_for


@dataclass(frozen=True)
class Api:
    """A native API, and the quirks that cannot have the same outcome there."""

    dialect: str
    base: str
    family: str
    path: str
    differs: tuple[str, ...] = ()
    differs_whole: tuple[str, ...] = ()
    outcome_only: tuple[str, ...] = ()


APIS = (
    # A whole message holds arguments as an object, so they are never invalid. The legacy loop requests steps whole.
    Api("anthropic-messages", "/anthropic", "anthropic", "/v1/messages", differs_whole=("a06", "a07", "a08", "a10")),
    Api("openai-responses", "/openai/v1", "openai", "/responses"),
    # Gemini's arguments are always an object: anything else is a malformed call. Its simulated model rejects a call
    # without a signature, as a call from a text is, so the loop sends it as text.
    Api(
        "gemini",
        "/gemini",
        "google",
        "/v1beta/models/",
        differs=("a06", "a07", "a08", "a09", "a10"),
        outcome_only=("a11", "a14", "d03"),
    ),
)
# A leaked call is found in the text, which is the same in each API, so one of its eleven formats is enough.
FORMATS = tuple(f"a11-{name}" for name in ("dsml", "deepseek", "kimi", "glm", "mimo", "anthropic", "mistral"))
NAMES = [name for name in QUIRKS if not is_of_openrouter(f"openai/sim-quirk-{name}") and not name.startswith(FORMATS)]
CASES = [
    (api, name, loop) for api in APIS for name in NAMES if not name.startswith(api.differs or "-") for loop in LOOPS
]
Ask = Callable[[Api, str, str], tuple[NativeRun, NativeRun]]


@pytest.fixture(scope="module")
def apps(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, RunningApp]]:
    """Run an app over each native API, and one over OpenRouter's."""
    with ExitStack() as stack:
        folder = tmp_path_factory.mktemp("openrouter")
        settings = settings_for(folder, openrouter_base_url=simulator.base_url, signalbox_allow_loop_header=True)
        running = {"openrouter": stack.enter_context(RunningApp(settings))}
        for api in APIS:
            folder = tmp_path_factory.mktemp(api.dialect)
            made = app_over(simulator, folder, dialect=api.dialect, base=api.base, family=api.family)
            running[api.dialect] = stack.enter_context(made)
        yield running


@pytest.fixture
def ask(apps: dict[str, RunningApp], simulator: BackgroundSimulator, no_waiting: list[Retry]) -> Ask:
    """Ask a model over a native API and over OpenRouter's, without retry delays."""

    def asked(api: Api, model: str, loop: str) -> tuple[NativeRun, NativeRun]:
        native = NativeAsker(apps[api.dialect], simulator, api.path, api.family)
        other = NativeAsker(apps["openrouter"], simulator, "/api/v1/chat/completions", api.family)
        return native(model, question(), loop=loop), other(model, question(), loop=loop)

    return asked


def seen(run: NativeRun) -> tuple[object, ...]:
    """Return what a client and the provider see of a run, without its words."""
    return run.outcome, run.heard.warnings, set(run.statuses), [call["name"] for call in run.heard.calls]


def test_the_quirks() -> None:
    """Most sections have quirks that do not depend on OpenRouter's chunks."""
    assert {name[0] for name in NAMES} == {"a", "b", "d", "e", "f"}
    assert len(NAMES) > 50


@pytest.mark.parametrize(
    ("api", "name", "loop"), CASES, ids=[f"{api.dialect}-{name}-{loop}" for api, name, loop in CASES]
)
def test_the_same_outcome(ask: Ask, api: Api, name: str, loop: str) -> None:
    """Ending, warnings and calls are those of the same quirk over OpenRouter; no request is rejected."""
    native, other = ask(api, f"sim-quirk-{name}", loop)
    assert native.outcome == other.outcome
    if name.startswith(api.outcome_only or "-"):
        return
    assert set(native.statuses) == {200}
    if loop == "v2" or not name.startswith(api.differs_whole or "-"):
        assert seen(native) == seen(other)
