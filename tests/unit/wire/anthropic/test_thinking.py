"""Thinking in the form that each model accepts: budgets, efforts, and how it is turned off."""

import json
from typing import Any

import pytest
from msgspec.structs import replace
from signalbox.core.messages import AssistantMessage, Message, Native, ToolCall, ToolMessage, UserMessage
from signalbox.core.params import Choice, ForcedTool, Params, Reasoning
from signalbox.core.parts import Request, ToolSchema
from signalbox.wire.anthropic.models import traits_of
from signalbox.wire.anthropic.request import body_of

ASK = (UserMessage("Hi"),)
OLD, NEW, OTHER = "claude-sonnet-4-5", "claude-opus-4-8", "MiniMax-M2.7"
TOOL = ToolSchema("f", "Does f.", {"type": "object", "properties": {}})


def body(request: Request) -> dict[str, Any]:
    """Write a body and read it again."""
    return json.loads(body_of(request, stream=True))


def with_params(model: str = OLD, **params: Any) -> dict[str, Any]:
    """Write a body with these parameters; return the fields that they add."""
    sent = body(Request(model, ASK, params=Params(**params)))
    return {k: v for k, v in sent.items() if k not in ("model", "messages", "stream", "cache_control")}


@pytest.mark.parametrize(
    ("model", "reasoning", "sent"),
    [
        (OLD, Reasoning(effort="low"), {"thinking": {"type": "enabled", "budget_tokens": 4096}, "max_tokens": 32_000}),
        (OLD, Reasoning(max_tokens=9), {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 32_009}),
        (OLD, Reasoning(enabled=False), {"max_tokens": 32_000}),
        ("claude-3-opus-20240229", Reasoning(effort="high"), {"max_tokens": 4_096}),
        (OTHER, Reasoning(effort="none"), {"thinking": {"type": "disabled"}, "max_tokens": 16_384}),
        (
            "claude-opus-4-5",
            Reasoning(effort="high"),
            {
                "thinking": {"type": "enabled", "budget_tokens": 16_000},
                "output_config": {"effort": "high"},
                "max_tokens": 32_000,
            },
        ),
        (
            "claude-sonnet-4-6",
            Reasoning(effort="xhigh"),
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}, "max_tokens": 32_000},
        ),
        (
            "anthropic/claude-sonnet-4.6",
            Reasoning(max_tokens=2_000),
            {"thinking": {"type": "enabled", "budget_tokens": 2_000}, "max_tokens": 34_000},
        ),
        (
            NEW,
            Reasoning(max_tokens=10_000),
            {
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "medium"},
                "max_tokens": 32_000,
            },
        ),
        (
            NEW,
            Reasoning(enabled=True, exclude=True),
            {"thinking": {"type": "adaptive", "display": "omitted"}, "max_tokens": 32_000},
        ),
        (NEW, Reasoning(enabled=False), {"max_tokens": 32_000}),
    ],
)
def test_thinking(model: str, reasoning: Reasoning, sent: dict[str, Any]) -> None:
    """Older models get a budget and newer ones an effort, each in the form that it accepts."""
    assert with_params(model, reasoning=reasoning) == sent


SHOWN = {"type": "adaptive", "display": "summarized"}


@pytest.mark.parametrize(
    ("model", "off", "forced"),
    [
        ("claude-opus-5", {"thinking": {"type": "disabled"}}, "any"),
        ("claude-haiku-5-5", {"thinking": {"type": "disabled"}}, "any"),
        ("claude-sonnet-5-5", {"thinking": {"type": "between_tools"}}, "auto"),
        ("claude-opus-5-5", {"output_config": {"effort": "low"}}, "auto"),
        ("claude-fable-5", {"output_config": {"effort": "low"}}, "auto"),
        ("claude-mythos-preview", {"output_config": {"effort": "low"}}, "auto"),
    ],
)
def test_models_that_think_by_default(model: str, off: dict[str, Any], forced: str) -> None:
    """Their thinking is shown, each turns it off in a different way, and some reject forced calls."""
    assert with_params(model, max_tokens=9) == {"max_tokens": 9, "thinking": SHOWN}
    assert with_params(model, max_tokens=9, reasoning=Reasoning(enabled=False)) == {"max_tokens": 9, **off}
    for choice in ("required", ForcedTool("f")):
        sent = body(Request(model, ASK, tools=(TOOL,), tool_choice=choice, params=Params(max_tokens=9)))
        if forced == "auto":
            assert (sent["tool_choice"], sent["thinking"]) == ({"type": "auto"}, SHOWN)
        else:
            assert sent["tool_choice"]["type"] in ("any", "tool")
            assert sent["thinking"] == {"type": "disabled"}


def test_a_budget_stays_below_the_limit() -> None:
    """An effort uses at most half of the limit; a limit that is too small for thinking turns it off."""
    high = Reasoning(effort="high")
    assert with_params(max_tokens=4_000, reasoning=high)["thinking"]["budget_tokens"] == 2_000
    assert with_params(max_tokens=4_000, reasoning=Reasoning(max_tokens=8_000))["thinking"]["budget_tokens"] == 3_999
    assert "thinking" not in with_params(max_tokens=1_500, reasoning=high)


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("claude-3-7-sonnet-20250219", (True, False)),
        ("claude-3-5-haiku-latest", (False, False)),
        ("claude-opus-4-20250514", (True, False)),
        ("claude-haiku-4-5@20251001", (True, False)),
        ("claude-sonnet-4.6", (True, True)),
        ("claude-opus-4-7", (False, True)),
        ("claude-fable-5", (False, True)),
        ("claude-mythos-preview", (False, True)),
        ("MiniMax-M2.7", (True, False)),
    ],
)
def test_versions(name: str, version: tuple[bool, bool]) -> None:
    """The version is read from all forms of names; an unknown one is the newest."""
    traits = traits_of(name)
    assert (traits.budgets, traits.adapts) == version


@pytest.mark.parametrize(("choice", "thinks"), [("required", False), (ForcedTool("f"), False), ("auto", True)])
def test_a_forced_call_excludes_thinking(choice: Choice, thinks: bool) -> None:
    """The API rejects thinking in a request that forces a call (quirk B6)."""
    request = Request(OTHER, ASK, tools=(TOOL,), tool_choice=choice, params=Params(reasoning=Reasoning(effort="low")))
    assert ("thinking" in body(request)) == thinks


CALLED = AssistantMessage(calls=(ToolCall("c1", "f", {}),))
OWN = replace(
    CALLED, native=Native("anthropic-messages", ({"type": "tool_use", "id": "c1", "name": "f", "input": {}},))
)
RESULT = ToolMessage("c1", "f", "1")


@pytest.mark.parametrize(
    ("model", "history", "thinks"),
    [
        (OLD, (CALLED, RESULT), False),
        (OLD, (CALLED, RESULT, UserMessage("An image.")), False),
        (OLD, (OWN, RESULT), True),
        (OLD, (CALLED, RESULT, AssistantMessage("1."), UserMessage("And now?")), True),
        (NEW, (CALLED, RESULT), True),
        (OTHER, (CALLED, RESULT), False),
    ],
)
def test_an_open_loop_without_its_thinking(model: str, history: tuple[Message, ...], thinks: bool) -> None:
    """Calls of another model have no thinking before them: a budget would be rejected (quirk B7)."""
    params = Params(reasoning=Reasoning(effort="low"))
    sent = body(Request(model, (*ASK, *history), tools=(TOOL,), params=params))
    assert (sent.get("thinking", {}).get("type", "disabled") != "disabled") == thinks
