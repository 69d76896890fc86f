"""Conversations as a model leaves them at an upstream, with signatures that only this model accepts there."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import cast

from signalbox.core.messages import (
    AssistantMessage,
    ImagePart,
    JsonObject,
    JsonValue,
    Message,
    Native,
    ReasoningDetail,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from signalbox.simulator.families import FAMILIES, Origin
from signalbox.simulator.native.anthropic.thinking import redacted_block, thinking_block
from signalbox.simulator.native.gemini.signatures import sign_part
from signalbox.simulator.native.openai.ids import Origin as ResponseOrigin
from signalbox.simulator.native.openai.ids import encrypt
from signalbox.wire.json_text import dumps

IMAGE = ImagePart("data:image/png;base64,iVBORw0KGgo=")
THOUGHT = "I must look this up."
_OPAQUE = ("signature", "data", "encrypted_content", "thoughtSignature")
# The request writer knows by its name that a model of Gemini 3 rejects calls without a signature.
_GEMINI = "gemini-3-flash-preview"
_NATIVE_MODELS = {"anthropic-messages": "sim", "gemini": _GEMINI, "openai-responses": "sim"}
_SEARCH, _CLOCK = "search_web", "get_current_time"


@dataclass(frozen=True)
class Place:
    """A model of a family at an upstream of a dialect."""

    family: str
    dialect: str

    def __str__(self) -> str:
        return f"{self.family} at {self.dialect}"

    @property
    def model(self) -> str:
        """Return the id that clients use."""
        return f"{self.family}/sim"

    @property
    def upstream_model(self) -> str:
        """Return the id that the upstream uses."""
        if (self.family, self.dialect) == ("openai", "openai-chat"):
            return "sim"
        return _NATIVE_MODELS.get(self.dialect, self.model)


def open_loop(place: Place) -> list[Message]:
    """Return the steps of an open tool loop.

    Parallel calls without a text, of which one fails; a call with a text, whose result is an image; a truncated call.
    """
    first = _step(place, 0, "", {_SEARCH: {"query": "a"}, _CLOCK: {"timezone": "Asia/Tokyo"}})
    second = _step(place, 1, "Let me look again.", {_SEARCH: {"query": "b"}})
    third = _truncated_step(place, 2)
    return [
        first,
        _result(first.calls[0], "Found 3 pages."),
        _result(first.calls[1], "Unknown time zone.", is_error=True),
        second,
        ToolMessage(second.calls[0].id, _SEARCH, "A picture.", images=(IMAGE,)),
        third,
        _result(third.calls[0], "This call was cut off. Make a shorter call.", is_error=True),
    ]


def finished(place: Place) -> list[Message]:
    """Return a question with an image, its tool loop, and the answer."""
    question = UserMessage((TextPart("What is this?"), IMAGE))
    answer = AssistantMessage("A cat.", reasoning=THOUGHT, model=place.model, images=(IMAGE,), upstream=place.dialect)
    return [question, *open_loop(place), answer]


def opaque_texts(messages: list[Message]) -> set[str]:
    """Return what no other model or upstream can read: signatures, encrypted reasoning and ids of items."""
    found: set[str] = set()
    for message in messages:
        if isinstance(message, AssistantMessage):
            values = [dict(detail.raw) for detail in message.reasoning_details]
            items = list(message.native.items) if message.native is not None else []
            found.update(_opaque_in([*values, *items]))
            found.update(str(item["id"]) for item in items if item.get("type") in ("reasoning", "function_call"))
    return found


def _opaque_in(values: list[JsonObject]) -> Iterator[str]:
    for value in values:
        yield from (str(value[name]) for name in _OPAQUE if value.get(name))


def _result(call: ToolCall, content: str, *, is_error: bool = False) -> ToolMessage:
    return ToolMessage(call.id, call.name, content, is_error=is_error)


def _calls(place: Place, step: int, arguments: dict[str, JsonObject]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(f"local{step}{at:03}", name, value, _upstream_id(place, f"{step}-{at}", name))
        for at, (name, value) in enumerate(arguments.items())
    )


def _upstream_id(place: Place, seed: str, name: str) -> str | None:
    family = {"anthropic-messages": "anthropic", "openai-responses": "openai"}.get(place.dialect, place.family)
    return None if place.dialect == "gemini" else FAMILIES[family].make_id(Random(seed), name, int(seed[0]))


def _step(place: Place, step: int, text: str, arguments: dict[str, JsonObject]) -> AssistantMessage:
    calls = _calls(place, step, arguments)
    items = _items(place, step, text, calls)
    is_routed = place.dialect == "openrouter-chat"
    return AssistantMessage(
        content=text,
        calls=calls,
        reasoning=THOUGHT,
        reasoning_details=_details(place, calls) if is_routed else (),
        reasoning_field="reasoning_content" if place.dialect == "openai-chat" else None,
        model=place.model,
        provider=FAMILIES[place.family].providers[0] if is_routed else None,
        native=Native(place.dialect, tuple(items), place.dialect) if items else None,
        upstream=place.dialect,
    )


def _truncated_step(place: Place, step: int) -> AssistantMessage:
    """Return a step whose call was cut off: its arguments are lost, and so is the turn as its API sent it."""
    (call,) = _calls(place, step, {_SEARCH: {}})
    cut = ToolCall(call.id, call.name, {}, call.upstream_id, '{"query": "unfin')
    details = _details(place, (call,)) if place.dialect == "openrouter-chat" else ()
    return AssistantMessage(
        calls=(cut,), reasoning=THOUGHT, reasoning_details=details, model=place.model, upstream=place.dialect
    )


def _details(place: Place, calls: tuple[ToolCall, ...]) -> tuple[ReasoningDetail, ...]:
    family = FAMILIES[place.family]
    ids = [str(call.upstream_id) for call in calls]
    made = family.make_details(THOUGHT, ids, Origin(place.model, family.providers[0]))
    return tuple(ReasoningDetail(detail) for detail in made)


def _items(place: Place, step: int, text: str, calls: tuple[ToolCall, ...]) -> list[JsonObject]:
    match place.dialect:
        case "anthropic-messages":
            return _blocks(f"{THOUGHT} {step}", text, calls)
        case "gemini":
            return _parts(text, calls)
        case "openai-responses":
            return _response_items(step, text, calls)
        case _:
            return []


def _blocks(thought: str, text: str, calls: tuple[ToolCall, ...]) -> list[JsonObject]:
    texts: list[JsonObject] = [{"type": "text", "text": text}] if text else []
    used: list[JsonObject] = [
        {"type": "tool_use", "id": call.upstream_id, "name": call.name, "input": call.arguments} for call in calls
    ]
    return [thinking_block("anthropic/sim", thought), redacted_block("anthropic/sim", thought), *texts, *used]


def _parts(text: str, calls: tuple[ToolCall, ...]) -> list[JsonObject]:
    """Return parts of which only the first call is signed, as Gemini does with parallel calls."""
    texts: list[JsonObject] = [{"text": THOUGHT, "thought": True}, *([{"text": text}] if text else [])]
    made: list[JsonObject] = [{"functionCall": {"name": call.name, "args": call.arguments}} for call in calls]
    made[0]["thoughtSignature"] = sign_part(_GEMINI, [calls[0].name, calls[0].arguments])
    return [*texts, *made]


def _response_items(step: int, text: str, calls: tuple[ToolCall, ...]) -> list[JsonObject]:
    origin = ResponseOrigin(f"{step + 1:016x}", stored=False, reasoned=True)
    content: list[JsonValue] = [{"type": "output_text", "annotations": [], "logprobs": [], "text": text}]
    message: JsonObject = {
        "id": origin.item_id("msg", 1),
        "type": "message",
        "status": "completed",
        "content": content,
        "role": "assistant",
    }
    reasoning: JsonObject = {
        "id": origin.reasoning_id,
        "type": "reasoning",
        "encrypted_content": encrypt("sim", origin.number, "done"),
        "summary": [],
    }
    made = [
        {
            "id": origin.item_id("fc", at),
            "type": "function_call",
            "status": "completed",
            "arguments": dumps(call.arguments).decode(),
            "call_id": call.upstream_id,
            "name": call.name,
        }
        for at, call in enumerate(calls, 2)
    ]
    return [reasoning, *([message] if text else []), *cast(list[JsonObject], made)]
