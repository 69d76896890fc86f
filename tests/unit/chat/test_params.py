"""A request has the parameters that the caller set and those that the family requires, and no others."""

import pytest
from signalbox.chat.loops.degradation import degrade
from signalbox.chat.loops.finalize import finalize_after_tools
from signalbox.chat.params import dropped_params, guarded_params, prepare_request_params, schemas_of_called_tools
from signalbox.core.catalog import Abilities
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import Warning
from signalbox.core.messages import AssistantMessage, JsonValue, ToolCall, UserMessage
from signalbox.core.params import NO_PARAMS, public_choice
from signalbox.core.ports import Destination
from signalbox.wire.dialects import DIALECTS

from tests.support.fakes import make_tool
from tests.support.loop_runs import context_for
from tests.support.params import sent

TOOLS = [make_tool("f")]
ALL = ["anthropic/x", "deepseek/x", "google/x", "mistralai/x", "moonshotai/x", "openai/x", "qwen/x", "x-ai/x", "new/x"]
FORCED: JsonValue = {"type": "function", "function": {"name": "f"}}


@pytest.mark.parametrize("model", ALL)
def test_nothing_is_added_without_tools(model: str) -> None:
    """Without tools no family gets a parameter that the caller did not set."""
    request = prepare_request_params(context_for(model=model))
    assert (request.params, request.tools, request.tool_choice) == (NO_PARAMS, (), None)


@pytest.mark.parametrize("model", ALL)
def test_parallel_calls_are_off_for_some_families(model: str) -> None:
    """`parallel_tool_calls: false` is sent only to anthropic and xai, and only with tools (PS-12)."""
    params = prepare_request_params(context_for(TOOLS, model=model)).params
    assert sent(params) == ({"parallel_tool_calls": False} if model in ("anthropic/x", "x-ai/x") else {})


def test_claude_may_make_parallel_calls_in_anthropics_api() -> None:
    """There, only the caller limits the number of calls; Claude at any other upstream is limited as before."""
    context = context_for(TOOLS, model="anthropic/x")
    for name, limit in (("anthropic-messages", {}), ("openai-chat", {"parallel_tool_calls": False})):
        context.destination = Destination(separates_calls=DIALECTS[name].separates_calls)
        assert sent(prepare_request_params(context).params) == limit
    context = context_for(TOOLS, model="anthropic/x", params={"parallel_tool_calls": False})
    context.destination = Destination(separates_calls=True)
    assert sent(prepare_request_params(context).params) == {"parallel_tool_calls": False}


@pytest.mark.parametrize("first", [True, False])
def test_guardrails_hold_in_every_step(first: bool) -> None:
    """The second step has the same guardrails as the first (PS-12)."""
    request = prepare_request_params(context_for(TOOLS, model="anthropic/x"), first=first)
    assert sent(request.params) == {"parallel_tool_calls": False}


@pytest.mark.parametrize("model", ALL)
def test_response_format_beside_tools(model: str) -> None:
    """XAI and Gemini get no response_format with tools, with a warning; without tools all get it (PS-12, C9)."""
    params: dict[str, JsonValue] = {"response_format": {"type": "json_object"}}
    with_tools = context_for(TOOLS, model=model, params=params)
    refused = model in ("x-ai/x", "google/x")
    assert (guarded_params(with_tools).format is None) is refused
    assert dropped_params(with_tools) == (["response_format"] if refused else [])
    without = context_for(model=model, params=params)
    assert sent(guarded_params(without)) == params
    assert dropped_params(without) == []


def test_parallel_calls_need_tools() -> None:
    """`parallel_tool_calls` without tools is a 400, so it is dropped with a warning (C3)."""
    context = context_for(params={"parallel_tool_calls": True, "seed": 1})
    assert sent(guarded_params(context)) == {"seed": 1}
    assert dropped_params(context) == ["parallel_tool_calls"]


@pytest.mark.parametrize(
    ("model", "goes", "told"), [("openai/x", True, []), ("anthropic/x", False, ["parallel_tool_calls"])]
)
def test_the_callers_parallel_calls(model: str, goes: bool, told: list[str]) -> None:
    """The caller's value is sent, unless the family's rule differs, with a warning."""
    context = context_for(TOOLS, model=model, params={"parallel_tool_calls": True})
    assert sent(guarded_params(context)) == {"parallel_tool_calls": goes}
    assert dropped_params(context) == told


def test_the_callers_parameters_are_unchanged() -> None:
    """Guardrails change only a copy."""
    context = context_for(TOOLS, model="x-ai/x", params={"response_format": {"type": "json_object"}})
    guarded_params(context)
    assert sent(context.base_params) == {"response_format": {"type": "json_object"}}


@pytest.mark.parametrize(
    ("choice", "first", "later"),
    [
        (None, None, None),
        ("auto", "auto", "auto"),
        ("none", "none", "none"),
        ("required", "required", "auto"),
        (FORCED, FORCED, "auto"),
    ],
)
def test_a_forced_choice_applies_to_the_first_step_only(choice: JsonValue, first: JsonValue, later: JsonValue) -> None:
    """If a call were forced in every step, the run could never answer (PS-10)."""
    context = context_for(TOOLS, tool_choice=choice)
    assert public_choice(prepare_request_params(context).tool_choice) == first
    assert public_choice(prepare_request_params(context, first=False).tool_choice) == later


def test_no_choice_without_tools() -> None:
    """`tool_choice` needs tools (C3)."""
    assert prepare_request_params(context_for(tool_choice="auto")).tool_choice is None


def test_the_session_id_is_sent() -> None:
    """A known conversation keeps its route and its cache (C15)."""
    context = context_for()
    context.session_id = "chat-1"
    assert prepare_request_params(context).session_id == "chat-1"
    context.session_id = "0123456789ab/chat-1"
    assert prepare_request_params(context).session_id == "99c02aba82b3bcbc26f2376161c02753"


@pytest.mark.parametrize(
    ("model", "reasoning", "goes"),
    [
        ("anthropic/sim", {"effort": "low"}, "auto"),
        ("anthropic/sim", {"max_tokens": 2000}, "auto"),
        ("anthropic/sim", {"effort": "none"}, "required"),
        ("anthropic/sim", None, "required"),
        ("openai/sim", {"effort": "low"}, "required"),
    ],
)
def test_b6_no_call_is_forced_while_the_model_reasons(model: str, reasoning: JsonValue, goes: str) -> None:
    """If the family rejects both together, the choice becomes auto, with a warning."""
    params: dict[str, JsonValue] = {"reasoning": reasoning} if reasoning else {}
    context = context_for([make_tool("f")], model=model, tool_choice="required", params=params)
    assert prepare_request_params(context).tool_choice == goes
    assert dropped_params(context) == ([] if goes == "required" else ["tool_choice"])


def test_c03_argument_names_that_no_schema_accepts_are_left_out() -> None:
    """Schemas of tools in the history are derived from arguments, except invalid names (C3)."""
    call = ToolCall("aaaaaaaaa", "f", {"q": 1, "my key!": 2})
    [schema] = schemas_of_called_tools([AssistantMessage(calls=(call,))])
    assert schema.parameters == {"type": "object", "properties": {"q": {"type": "number"}}}


def test_b08_a_raised_limit_is_dropped_before_turns() -> None:
    """The raised limit may be what makes a request too long; the conversation is shortened only after it (B8)."""
    context = context_for(TOOLS, messages=[UserMessage("Old."), AssistantMessage("So."), UserMessage("New?")])
    context.degradation.raised_limit = 8000
    error = UpstreamError(Code.CONTEXT_LENGTH_EXCEEDED)
    assert degrade(context, prepare_request_params(context), error) == []
    assert (context.degradation.raised_limit, context.degradation.truncation) == (None, 0)
    told = degrade(context, prepare_request_params(context), error)
    assert told is not None
    assert [event.code for event in told if isinstance(event, Warning)] == ["CONTEXT_TRIMMED"]


@pytest.mark.parametrize("modalities", [("image", "text"), ("image",)])
def test_image_models_are_asked_for_images(modalities: tuple[str, ...]) -> None:
    """The modalities are set in every step, including the finalize; the caller's parameters are unchanged."""
    context = context_for(TOOLS, model="new/x")
    context.abilities = Abilities(modalities=modalities)
    requests = [
        prepare_request_params(context),
        prepare_request_params(context, first=False),
        finalize_after_tools(context),
    ]
    assert [sent(request.params) for request in requests] == [{"modalities": [*modalities]}] * 3
    assert (dropped_params(context), requests[0].changes) == ([], ())


@pytest.mark.parametrize("drawn", [("image", "text"), ()])
def test_the_callers_modalities_are_sent_unchanged(drawn: tuple[str, ...]) -> None:
    """The catalogue does not change them."""
    context = context_for(params={"modalities": ["text"]})
    context.abilities = Abilities(modalities=drawn)
    assert sent(prepare_request_params(context).params) == {"modalities": ["text"]}


def test_parameters_that_the_dialect_lacks_are_not_sent() -> None:
    """A parameter that the dialect cannot write is dropped with a warning; the rest is sent."""
    params: dict[str, JsonValue] = {"provider": {"order": ["a"]}, "models": ["b/c"], "seed": 1}
    context = context_for(params=params)
    context.unsupported_params = frozenset({"routing", "fallbacks"})
    assert sent(guarded_params(context)) == {"seed": 1}
    assert dropped_params(context) == ["provider", "models"]
