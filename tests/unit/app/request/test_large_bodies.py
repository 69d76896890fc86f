"""A body of any shape takes time proportional to its size, and large ones are processed off the event loop."""

import asyncio
import threading
from typing import Any

import orjson
import pytest
from signalbox.chat.history.repair import history_for
from signalbox.conversations.titles import title_of
from signalbox.core import conversations
from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from signalbox.core.parts import Request
from signalbox.core.security.untrusted import neutralised
from signalbox.core.security.url_allowlist import UrlAllowlist
from signalbox.core.tools import ToolContext
from signalbox.intakes.v1 import messages_of
from signalbox.intakes.v1_schema import MOST_CALLS, MOST_PARTS, ChatRequest
from signalbox.offload import offloaded
from signalbox.wire.openrouter.request import body_of

from tests.bench.stalls.bodies import BODIES
from tests.support.complexity import steps_of
from tests.support.loop_runs import context_for
from tests.support.running_app import RunningApp, error_of

# Twice the size may cost a little more than twice the steps.
MOST = 2.3
MODEL = "mistralai/x"  # rejects consecutive user messages, so they are joined
SHAPES = ("turns of 100 calls of one id", "turns of 100 calls, results reversed", "messages", "a result of delimiters",
          "a result of angles and o", "a result of control tokens", "a result of addresses")  # fmt: skip


def sent(messages: list[Message]) -> bytes:
    """Make the upstream request of a conversation."""
    context = context_for(model=MODEL)
    context.messages, context.loop_start = messages, len(messages)
    return body_of(Request(MODEL, history_for(context)), stream=True)


def of_one_id(number: int, *, backwards: bool = False) -> list[Message]:
    """Return so many calls in one message, all of one id or with their results in the wrong order."""
    ids = [f"call_{place}" if backwards else "call_1" for place in range(number)]
    results = [ToolMessage(one, "work", "ok") for one in ids]
    calls = tuple(ToolCall(one, "work", {}) for one in ids)
    return [UserMessage("Go"), AssistantMessage(calls=calls), *(results[::-1] if backwards else results)]


@pytest.mark.parametrize("backwards", [False, True])
def test_calls_cost_in_proportion(backwards: bool) -> None:
    """Neither renaming calls of one id nor finding results in the wrong order is quadratic in their number."""
    few, many = (of_one_id(number, backwards=backwards) for number in (400, 800))
    sent(few)  # what is loaded with the first one does not count
    assert steps_of(lambda: sent(many)) < MOST * steps_of(lambda: sent(few))


@pytest.mark.parametrize("name", SHAPES)
def test_a_question_costs_in_proportion(name: str) -> None:
    """From the validated body to the upstream request, twice the body takes about twice the steps."""
    few, many = (ChatRequest.model_validate({"model": MODEL, **BODIES[name](size)}) for size in (60_000, 120_000))
    sent(messages_of(few))
    assert steps_of(lambda: sent(messages_of(many))) < MOST * steps_of(lambda: sent(messages_of(few))) + 100


def test_a_call_of_many_results_is_read_once() -> None:
    """The URLs in a call are extracted once, however many results the call has."""

    def looked_up(results: int) -> UrlAllowlist:
        call = ToolCall("call_1", "work", {"q": "see http://a.bc/d " * 400})
        says = [ToolMessage("call_1", "work", f"http://e{place}.org/") for place in range(results)]
        links = ToolContext.for_conversation(
            "r", [UserMessage("Go"), AssistantMessage(calls=(call,)), *says]
        ).url_allowlist
        links.as_found("http://e1.org/")
        return links

    looked_up(2)
    assert steps_of(lambda: looked_up(80)) < MOST * steps_of(lambda: looked_up(40))


def test_a_url_among_thousands_in_a_call_is_not_known() -> None:
    """A model cannot make a URL known by repeating it among thousands in a call."""
    arguments = {"q": " ".join(f"http://a{place}.org/" for place in range(2_000))}
    call = ToolCall("call_1", "work", dict(arguments))
    says = ToolMessage("call_1", "work", "http://a1999.org/")
    context = ToolContext.for_conversation("r", [UserMessage("Go"), AssistantMessage(calls=(call,)), says])
    assert context.url_allowlist.as_found("http://a1999.org/") is None


def test_marks_are_composed_slice_by_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Combining marks are normalised in slices of some hundred, because Python's sort is quadratic."""
    lengths: list[int] = []
    normalize = conversations.normalize

    def noted(form: Any, text: str) -> str:
        lengths.append(len(text))
        return normalize(form, text)

    text = "Zu\u0308rich " * 200
    monkeypatch.setattr(conversations, "normalize", noted)
    assert conversations.case_folded(text) == "z\u00fcrich " * 200
    conversations.case_folded("a" + "\u0301" * 5_000 + "\u0323" * 5_000)
    assert max(lengths) < 512


def test_a_tag_is_found_wherever_slices_meet() -> None:
    """A text that imitates a delimiter is changed at every distance from a slice boundary."""
    for place in range(LARGE * 2 - 40, LARGE * 2 + 8):
        assert neutralised("x" * place + "</outside-1>" + "y" * 100) == "x" * place + "[/outside-1>" + "y" * 100


def test_a_row_of_underscores_has_a_title() -> None:
    """A long row of underscores takes linear time."""
    assert title_of("a" + "_" * 3_000 + "a") == "a" + "_" * 59


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        ([{"role": "user", "content": [{"type": "text", "text": "x"}] * (MOST_PARTS + 1)}], "messages.0.content"),
        (
            [
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "1", "function": {"name": "x", "arguments": "{}"}}] * (MOST_CALLS + 1),
                }
            ],
            "messages.0.tool_calls",
        ),
        ([{"role": "user", "content": "x"}] * 10_001, "messages"),
        ([*[{"role": "user", "content": "x"}] * 5_000, {"role": "user", "content": 1}], "messages.5000.content"),
    ],
)
def test_too_many_are_refused_with_their_field(app: RunningApp, messages: list[Any], field: str) -> None:
    """A count above its limit, or a fault after thousands of messages, is a 422 that names the field."""
    response = app.post(messages=messages)
    assert (response.status_code, error_of(response)["field"]) == (422, field)


def test_too_many_values_are_refused(app: RunningApp) -> None:
    """Values are counted before parsing; those in strings do not count."""
    head = b'{"model":"openai/sim","prompt":"x","stop":'
    response = app.client.post("/api/chat/stream", content=head + b"[" + b"1," * 300_001 + b"1]}")
    assert (response.status_code, error_of(response)["field"]) == (422, "body")
    text = orjson.dumps({"model": "openai/sim", "prompt": 'say ","' * 200_000})
    assert app.client.post("/api/chat/stream", content=text).status_code == 200


def test_what_is_large_leaves_the_loop() -> None:
    """Small work runs inline, large work in the offload thread, and errors propagate."""

    def refuse() -> None:
        raise RequestError(Code.INVALID_REQUEST)

    async def asked() -> tuple[threading.Thread, threading.Thread]:
        with pytest.raises(RequestError):
            await offloaded(refuse, size=LARGE)
        here = await offloaded(threading.current_thread, size=LARGE - 1)
        return here, await offloaded(threading.current_thread, size=LARGE)

    here, beside = asyncio.run(asked())
    assert here is threading.current_thread()
    assert beside.name.startswith("offload")
