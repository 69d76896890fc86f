"""A chat continues from any remains of a run: cut at any point, altered by its client, with any family next."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import to_builtins
from signalbox.core.errors import RequestError
from signalbox.core.messages import AssistantMessage, ImagePart, Message, TextPart, ToolMessage, UserMessage
from signalbox.intakes.v1 import messages_of
from signalbox.intakes.v1_schema import ChatRequest

from tests.scenarios.conversation_recovery.clients import transcript_of
from tests.scenarios.conversation_recovery.cut_runs import (
    BEHAVIOURS,
    FAMILIES,
    HOWS,
    QUESTION,
    Cut,
    ScriptedRun,
    recorded,
    replay,
    simulated,
)
from tests.scenarios.conversation_recovery.strict_models import (
    CHOICES,
    GIVEN_UP,
    OFFERS,
    PARAMS,
    TARGETS,
    Ask,
    context_of,
    first_refusal,
)

SIMULATED = st.builds(
    lambda family, behaviour, loop: simulated(f"{family}/{behaviour}", loop),
    st.sampled_from(FAMILIES),
    st.sampled_from(BEHAVIOURS),
    st.sampled_from(["v2", "legacy"]),
)
RECORDED = st.builds(lambda: None).flatmap(lambda _: st.sampled_from(recorded() or (simulated("openai/sim", "v2"),)))
LIVES = SIMULATED | RECORDED
CUTS = st.builds(Cut, st.sampled_from(HOWS), st.integers(0, 3), st.integers(0, 40))
ASKS = st.builds(
    Ask, st.sampled_from(sorted(OFFERS)), st.sampled_from(PARAMS), st.sampled_from(CHOICES), st.sampled_from(GIVEN_UP)
)
EPISODES = st.lists(st.tuples(LIVES, CUTS), min_size=1, max_size=3)
BLANKS = ("", " ", "\n\t", "\u200b")
IDS = ("call_0", "functions.search_web:0", "a|b c", "é" * 9, "x" * 70, "toolu_01" + "A" * 22, "call_" + "b" * 24)
BROKEN = ('{"query":', '["no object"]', "null", '"{}"', "\ud7ff", '{"a":1}{"b":2}')
NAMES = ("multi_tool_use.parallel", "söarch web", "n" * 80, "search_web")
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
Mangled = tuple[str, int, int]
MANGLES = st.lists(
    st.tuples(
        st.sampled_from(
            ["drop", "blank", "id", "arguments", "name", "image", "blank parts", "system", "swap", "behead", "double"]
        ),
        st.integers(0, 30),
        st.integers(0, 10),
    ),
    max_size=4,
)


def mangled(messages: list[dict[str, Any]], mangles: list[Mangled]) -> list[dict[str, Any]]:
    """Alter a conversation as clients do: drop, blank, rename and cut messages."""
    for how, at, which in mangles:
        if messages:
            _mangle(messages, how, at % len(messages), which)
    return messages


def _mangle(messages: list[dict[str, Any]], how: str, at: int, which: int) -> None:
    said = messages[at]
    calls = said.get("tool_calls") or []
    match how:
        case "drop":
            del messages[at]
        case "blank":
            said["content"] = BLANKS[which % len(BLANKS)]
        case "id" if calls:
            _rename(messages, at, calls[which % len(calls)], IDS[which % len(IDS)])
        case "arguments" if calls:
            calls[0]["function"]["arguments"] = BROKEN[which % len(BROKEN)]
        case "name" if calls:
            calls[0]["function"]["name"] = NAMES[which % len(NAMES)]
        case "image" if said["role"] == "user":
            said["content"] = [IMAGE, {"type": "text", "text": "What is this?"}][: 1 + which % 2]
        case "blank parts" if said["role"] in ("user", "tool"):
            said["content"] = [{"type": "text", "text": BLANKS[which % len(BLANKS)]}, {"type": "text", "text": "b"}]
        case "system":
            messages.insert(at, {"role": "system", "content": BLANKS[which % 4] if which % 2 else "Be kind."})
        case "swap" if at and said["role"] == messages[at - 1]["role"] == "tool":
            messages[at - 1 : at + 1] = [said, messages[at - 1]]
        case "behead":
            del messages[: which + 1]
        case "double":
            messages.insert(at, {**said})
        case _:
            pass


def _rename(messages: list[dict[str, Any]], at: int, call: dict[str, Any], name: str) -> None:
    for message in messages[at + 1 :]:
        if message["role"] != "tool":
            break
        if message["tool_call_id"] == call["id"]:
            message["tool_call_id"] = name
    call["id"] = name


def taken_in(messages: list[dict[str, Any]]) -> list[Message]:
    """Parse a client's messages as the app does; drop a result without a call, which the app rejects with 422."""
    while True:
        try:
            request = ChatRequest.model_validate({"model": "x", "messages": json.loads(json.dumps(messages))})
            return messages_of(request)
        except RequestError as refused:
            where, at, field = str(refused.field).split(".")
            if (where, field) != ("messages", "tool_call_id"):
                raise
            del messages[int(at)]


def run_in_turn(episodes: list[tuple[ScriptedRun, Cut]]) -> list[dict[str, Any]]:
    """Execute runs one after another, each cut; return the messages that their client would send."""
    messages: list[dict[str, Any]] = []
    for scripted_run, cut in episodes:
        finished = replay(scripted_run, cut, [UserMessage(QUESTION)])
        messages += [
            {"role": "user", "content": QUESTION},
            *transcript_of([to_builtins(event) for event in finished.events]),
        ]
    return messages


@settings(max_examples=100)
@given(EPISODES, MANGLES, ASKS)
def test_a_client_can_go_on_with_any_family(
    episodes: list[tuple[ScriptedRun, Cut]], mangles: list[Mangled], ask: Ask
) -> None:
    """Every family accepts the next question after cut runs that the client has altered."""
    sent = [*mangled(run_in_turn(episodes), mangles), {"role": "user", "content": "Go on."}]
    before = taken_in(sent)
    for model in TARGETS:
        refusal = first_refusal(context_of(model, before, ask), first=True)
        assert refusal is None, f"{model}: {refusal}"


@settings(max_examples=100)
@given(EPISODES, st.integers(0, 12), ASKS, st.booleans())
def test_what_stands_in_memory_goes_on_with_any_family(
    episodes: list[tuple[ScriptedRun, Cut]], short: int, ask: Ask, pictured: bool
) -> None:
    """Every family accepts a loop's own history (foreign ids, foreign reasoning), cut at any message."""
    before: list[Message] = []
    for scripted_run, cut in episodes:
        asked = (ImagePart("https://example.org/cat.png"), TextPart(QUESTION)) if pictured else QUESTION
        before = replay(scripted_run, cut, [*before, UserMessage(asked)]).context.messages
    before = [*before[: max(len(before) - short, 0)], UserMessage("Go on.")]
    for model in TARGETS:
        refusal = first_refusal(context_of(model, before, ask), first=True)
        assert refusal is None, f"{model}: {refusal}"


@settings(max_examples=120)
@given(EPISODES, SIMULATED, CUTS, ASKS, st.integers(1, 3))
def test_a_tool_loop_goes_on_whatever_is_given_up(
    episodes: list[tuple[ScriptedRun, Cut]], scripted_run: ScriptedRun, cut: Cut, ask: Ask, steps: int
) -> None:
    """During a run after others that were cut, its model accepts every degraded form of its next request."""
    before = taken_in([*run_in_turn(episodes), {"role": "user", "content": QUESTION}])
    own = _steps(replay(scripted_run, cut, before).added, steps)
    refusal = first_refusal(context_of(scripted_run.model, before, ask, own), first=not own)
    assert refusal is None, f"{scripted_run.model}: {refusal}"


def _steps(added: list[Message], most: int) -> tuple[Message, ...]:
    """Return the first steps with calls, after which a run sends another request."""
    out: list[Message] = []
    for message in added:
        if isinstance(message, AssistantMessage):
            most -= 1
            if most < 0 or not message.calls:
                break
        assert isinstance(message, AssistantMessage | ToolMessage)
        out.append(message)
    return tuple(out)
