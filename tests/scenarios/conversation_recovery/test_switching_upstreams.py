"""A switch of the model or the upstream in mid-conversation never fails: all pairs of families and dialects."""

from collections.abc import Callable
from functools import partial
from itertools import product

import orjson
import pytest
from msgspec.structs import replace
from signalbox.chat.context import ConversationContext
from signalbox.chat.loops.degradation import degrade
from signalbox.chat.loops.finalize import finalize_after_tools
from signalbox.chat.params import prepare_request_params
from signalbox.core.messages import JsonObject, JsonValue, Message, UserMessage
from signalbox.core.parts import Request
from signalbox.core.ports import Destination
from signalbox.wire.dialects import DIALECTS

from tests.scenarios.conversation_recovery.cut_runs import FAMILIES
from tests.scenarios.conversation_recovery.native_rules import calls_and_results, contains, rejection_of
from tests.scenarios.conversation_recovery.strict_models import ALL, abilities
from tests.scenarios.conversation_recovery.upstream_histories import Place, finished, opaque_texts, open_loop
from tests.support.loop_runs import RUN_ID
from tests.support.params import params

PLACES = tuple(Place(family, dialect) for family, dialect in product(FAMILIES, DIALECTS))
GEMINI_AT_OPENROUTER = Place("google", "openrouter-chat")
Step = Callable[[ConversationContext], Request]
QUESTION = UserMessage("What is 17 * 23?")
THINK: dict[str, JsonValue] = {"reasoning": {"effort": "medium"}, "max_tokens": 8000}


STEPS: tuple[Step, ...] = (partial(prepare_request_params, first=False), finalize_after_tools)


def context_at(place: Place, messages: list[Message], *, open_loop: int = 0) -> ConversationContext:
    """Return a run at a place; `open_loop` is how many of the messages, the last ones, it continues."""
    asked = params(**THINK)
    context = ConversationContext(
        RUN_ID,
        place.model,
        list(messages),
        asked,
        tool_schemas=ALL,
        abilities=abilities(place.model),
        open_loop=open_loop,
    )
    unsupported = DIALECTS[place.dialect].unsupported_params(asked)
    context.use_destination(Destination(place.dialect, place.dialect, place.upstream_model, place.model, unsupported))
    return context


def accepted_body(place: Place, context: ConversationContext, step: Step) -> tuple[JsonObject, int]:
    """Return the body that the place's API accepts, and how many it rejected before the run gave something up."""
    dialect, rejected = DIALECTS[place.dialect], 0
    while True:
        request = replace(step(context), model=place.upstream_model)
        body = orjson.loads(dialect.body_of(request, stream=True))
        rejection = rejection_of(place.dialect, place.upstream_model, body)
        if rejection is None:
            return body, rejected
        rejected += 1
        error = dialect.error_of_response(rejection.status, rejection.body, {})
        assert degrade(context, request, error) is not None, f"{place}: {rejection.body.decode()}"


def check_at(place: Place, messages: list[Message], foreign: set[str], *, open_loop: int = 0) -> int:
    """Check the requests of the next step and of the last one; return how many were rejected at first."""
    total = 0
    for step in STEPS:
        body, rejected = accepted_body(place, context_at(place, messages, open_loop=open_loop), step)
        calls, results = calls_and_results(body)
        assert calls == results, f"{place}: {calls} calls, {results} results"
        assert rejected or calls == 4, f"{place}: {calls} calls"
        assert not [text for text in foreign if contains(body, text)], f"{place}: foreign reasoning"
        total += rejected
    return total


@pytest.mark.parametrize("one", PLACES, ids=str)
def test_a_later_question_goes_anywhere(one: Place) -> None:
    """The next question is accepted everywhere at once, without the reasoning of the earlier answer."""
    messages = [*finished(one), QUESTION]
    for other in PLACES:
        assert check_at(other, messages, opaque_texts(messages)) == 0, other


@pytest.mark.parametrize("one", PLACES, ids=str)
def test_an_open_tool_loop_goes_anywhere(one: Place) -> None:
    """A tool loop continues everywhere without the reasoning, which only its author gets.

    Only Gemini at OpenRouter rejects the calls of others: "Gemini models require OpenRouter reasoning details". The run
    then sends them as text.
    """
    loop = open_loop(one)
    for other in PLACES:
        foreign = opaque_texts(loop) if other != one else set[str]()
        rejected = check_at(other, [QUESTION, *loop], foreign, open_loop=len(loop))
        assert rejected == (2 if other == GEMINI_AT_OPENROUTER != one else 0), other


@pytest.mark.parametrize("one", PLACES, ids=str)
def test_the_author_gets_its_reasoning_back(one: Place) -> None:
    """The model gets all signatures of its open tool loop back at the same upstream."""
    loop = open_loop(one)
    context = context_at(one, [QUESTION, *loop], open_loop=len(loop))
    body, _ = accepted_body(one, context, STEPS[0])
    assert all(contains(body, text) for text in opaque_texts(loop))
