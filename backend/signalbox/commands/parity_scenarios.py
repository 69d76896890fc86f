"""The scenarios of `signalbox parity`: one for each behaviour of the simulator."""

from collections.abc import Iterator
from typing import Any

from signalbox.chat.budget import Budget, Prices
from signalbox.chat.context import Limits
from signalbox.chat.plan import RunPlan, schemas_of
from signalbox.core.messages import AssistantMessage, Message, SystemMessage, UserMessage
from signalbox.core.params import Params, Reasoning
from signalbox.core.tools import Tool
from signalbox.replay.case import Case
from signalbox.replay.differences import KINDS, Kind
from signalbox.replay.fake_tools import fake_tools
from signalbox.replay.parity import Trial
from signalbox.services.tool_executor import ToolExecutor
from signalbox.simulator.families import FAMILIES
from signalbox.simulator.faults.scripted import example_ids

_TIDES = "What are ocean tides?"
_FAMILIES = tuple(FAMILIES)
# The questions for each family; each leads to another kind of run.
_QUESTIONS: dict[str, str] = {
    "words": "Hello!",
    "search": _TIDES,
    "sum and time": "What time is it in Tokyo, and what is 6 * 7?",
    "side by side": "Compare ocean tides with river floods",
    "one after another": "Search for ocean tides, then search for the moon",
    "nothing found": "Search for unfindable things",
}
_LIMITED = (
    "qwen/chat-only",
    "openai/o4-mini",
    "anthropic/claude-opus-4.8",
    "openai/sim-context-900",
    "openai/sim-afford-400",
)
# Quirks that only some families have; all others are tried with the first family.
_AT_HOME = {"b11": "deepseek", "b01": "google", "b02": "google", "a13": "google"}
_STREAM_ALONE = "The fault occurs only in streams; the legacy loop requests a whole answer, which is intact."
_ONLY_STREAMED = frozenset(
    f"sim-quirk-{name}"
    for name in ("e01-tool", "e02", "e02-tool", "e02-done-only", "e10-many", "f02-tool", "f02-cut")
)  # fmt: skip
_ALL: dict[Kind, str] = {kind: _STREAM_ALONE for kind in KINDS if kind != "contract"}


def scenarios() -> list[Trial]:
    """Return every scenario, in an order that does not change."""
    tools = fake_tools()
    return [_trial(case, tools) for case in (*_of_families(tools), *_of_limits(tools), *_of_faults(tools))]


def _trial(case: Case, tools: list[Tool]) -> Trial:
    name = case.model.partition("/")[2]
    return Trial(case, lambda: ToolExecutor(tools), _ALL if name in _ONLY_STREAMED else {})


def _of_families(tools: list[Tool]) -> Iterator[Case]:
    for family in _FAMILIES:
        for name, question in _QUESTIONS.items():
            yield _case(f"{family}/sim", name, question, tools)


def _of_limits(tools: list[Tool]) -> Iterator[Case]:
    yield _case("openai/sim-steps-5", "at most 2 steps", _TIDES, tools, limits=Limits(max_steps=2))
    yield _case("openai/sim-searches-6", "at most 2 searches", _TIDES, tools, limits=Limits(max_searches=2))
    yield _case("openai/sim", "one tool forced", _TIDES, tools, choice="required")
    yield _case("openai/sim", "without tools", _TIDES, [])
    yield _case("anthropic/sim", "thinking", _TIDES, tools, params=Params(reasoning=Reasoning(effort="high")))
    yield _case("openai/sim", "a sampled answer", _TIDES, tools, params=Params(temperature=0.2, max_tokens=400))
    yield _case("openai/sim", "a finalize hint", _TIDES, tools, finalize_hint="Be brief.", limits=Limits(max_steps=1))
    budget = Budget(0.002, Prices(0.0, 0.00001))
    yield _case("openai/sim-long-2000", "a budget", _TIDES, tools, budget=budget)
    before: list[Message] = [
        SystemMessage("Be kind."),
        UserMessage("Hello!"),
        AssistantMessage("Hello to you."),
        UserMessage(_TIDES),
    ]
    yield _case("openai/sim", "a chat that goes on", [*before, UserMessage(_TIDES)], tools)
    for model in _LIMITED:
        yield _case(model, "a limited model", _TIDES, tools)


def _of_faults(tools: list[Tool]) -> Iterator[Case]:
    for name in example_ids():
        quirk = name.removeprefix("sim-quirk-").partition("-")[0]
        family = _AT_HOME.get(quirk, _FAMILIES[0]) if name.startswith("sim-quirk-") else "openai"
        yield _case(f"{family}/{name}", "", _TIDES, tools)


def _case(model: str, name: str, asked: str | list[Message], tools: list[Tool], **settings: Any) -> Case:
    messages: list[Message] = [UserMessage(asked)] if isinstance(asked, str) else asked
    title = f"{model} · {name}" if name else model
    plan = RunPlan(model=model, messages=tuple(messages), tools=schemas_of(tools), **settings)
    return Case(title, plan, is_simulated=True)
