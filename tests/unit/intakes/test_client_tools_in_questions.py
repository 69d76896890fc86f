"""The client's tools in the stored question of a run."""

import pytest
from pydantic import ValidationError
from signalbox.core.ask import Ask
from signalbox.core.messages import JsonValue, UserMessage
from signalbox.core.params import Choice, ForcedTool, Params
from signalbox.core.parts import ToolSchema
from signalbox.intakes.v1_question import (
    as_v1_request,
    choice_in,
    client_tools_in,
    extra_params_in,
    question_of,
    redacted,
)
from signalbox.intakes.v1_schema import ChatRequest

TOOLS = (
    ToolSchema("order", "Place an order.", {"type": "object", "properties": {}}, strict=True),
    ToolSchema("ask", "", {"type": "object"}),
)


def ask(choice: Choice | None = None) -> Ask:
    """Make a question with the client's tools."""
    return Ask(model="openai/sim", messages=(UserMessage("Go."),), client_tools=TOOLS, choice=choice)


@pytest.mark.parametrize("choice", [None, "auto", "required", ForcedTool("order")])
def test_tools_and_choice_come_back(choice: Choice | None) -> None:
    """A replay offers the same tools, with the same choice."""
    question = question_of(ask(choice))
    assert client_tools_in(question) == TOOLS
    assert choice_in(question) == choice


def test_contract_v1_1_does_not_accept_them() -> None:
    """A request of the contract has no such field; the stored question is one without them."""
    question = question_of(ask(ForcedTool("order")))
    with pytest.raises(ValidationError):
        ChatRequest.model_validate(question)
    assert ChatRequest.model_validate(as_v1_request(question)).tool_choice is None
    plain = question_of(Ask(model="m", messages=(UserMessage("Go."),), choice="none"))
    assert as_v1_request(plain) == plain


def test_parameters_without_a_neutral_name_come_back() -> None:
    """A replay forwards them again; the trace has their names, because their values may hold text."""
    extra: dict[str, JsonValue] = {"verbosity": "low", "prediction": {"type": "content", "content": "secret"}}
    question = question_of(Ask(model="m", messages=(UserMessage("Go."),), params=Params(seed=1, extra=extra)))
    assert extra_params_in(question) == extra
    assert ChatRequest.model_validate(as_v1_request(question)).seed == 1
    assert redacted(question, ())["extra_params"] == ["verbosity", "prediction"]


def test_the_trace_has_only_their_names() -> None:
    """Descriptions and schemas are the client's text."""
    assert redacted(question_of(ask()), ())["client_tools"] == ["order", "ask"]
