"""The parts of an answer, in the chunks in which Gemini's API streams them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, cast

import orjson

from ...completion import Completion
from ...families import WireCall
from ...model.turns import Turn
from ...quirks import quirk_of
from .argument_fragments import fragments
from .contents import Part
from .model_ids import is_gemini_3
from .request import GeminiRequest
from .signatures import sign_part

_CALLED = "Model generated function call(s)."


@dataclass(frozen=True, slots=True)
class Answer:
    """A completion, and the request that it answers."""

    completion: Completion
    request: GeminiRequest
    prompt: int
    """The tokens of the prompt."""
    cached: int
    """Those of them that were read from the cache."""

    @property
    def turn(self) -> Turn:
        """Return the turn, truncated by the limits of the request."""
        return self.completion.limited.turn


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk: parts, how the answer ended, and the tokens that it adds."""

    parts: tuple[Part, ...]
    thought: str = ""
    written: str = ""
    finish: str | None = None
    message: str | None = None


def pieces(answer: Answer, *, finish_apart: bool = False) -> list[Piece]:
    """Return the chunks in order: thoughts, text, calls; the last has the finish reason.

    `finish_apart` sends the finish reason in a chunk without calls, so that a cut can come between them.
    """
    made = [*_thoughts(answer), *_texts(answer), *_images(answer), *_calls(answer)]
    finish, message = ending(answer)
    signed_at_end = is_gemini_3(answer.request.model) and answer.turn.text and not answer.completion.calls
    if signed_at_end or finish_apart or not made or _calls_stand_alone(answer) or finish not in ("STOP", "MAX_TOKENS"):
        made.append(Piece(_last_parts(answer, finish, signed=bool(signed_at_end))))
    return [*made[:-1], replace(made[-1], finish=finish, message=message)]


def ending(answer: Answer) -> tuple[str, str | None]:
    """Return the finish reason and the message beside it."""
    completion, incoming = answer.completion, answer.request.incoming
    quirk = quirk_of(completion.model, completion.attempt)
    if quirk and quirk.stream and not _has_results(answer):
        reason = "UNEXPECTED_TOOL_CALL" if "unexpected" in completion.model else "MALFORMED_FUNCTION_CALL"
        return reason, _blamed(reason, completion.calls)
    if completion.calls and not incoming.may_call:
        return "UNEXPECTED_TOOL_CALL", _blamed("UNEXPECTED_TOOL_CALL", completion.calls)
    if completion.calls and not expressible(answer) and completion.native == "STOP":
        return "MALFORMED_FUNCTION_CALL", _blamed("MALFORMED_FUNCTION_CALL", completion.calls)
    return completion.native, _CALLED if expressible(answer) else None


def _has_results(answer: Answer) -> bool:
    return any(message.get("role") == "tool" for message in answer.request.incoming.messages)


def _blamed(reason: str, calls: Sequence[WireCall]) -> str:
    label = "Malformed function call" if reason.startswith("MALFORMED") else "Unexpected tool call"
    return f"{label}: print(default_api.{calls[0].name if calls else 'search_web'}("


def expressible(answer: Answer) -> list[tuple[WireCall, dict[str, Any]]]:
    """Return the calls with their arguments; other arguments than an object do not exist in this API."""
    if not answer.request.incoming.may_call:
        return []
    return [(call, arguments) for call in answer.completion.calls if (arguments := _parsed(call.arguments)) is not None]


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value: object = orjson.loads(text)
    except orjson.JSONDecodeError:  # a fault truncates arguments
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def _thoughts(answer: Answer) -> Iterator[Piece]:
    reasoning = answer.completion.reasoning
    for text in answer.completion.family.cut_reasoning(reasoning):
        parts: tuple[Part, ...] = ({"text": text, "thought": True},) if answer.request.shows_thoughts else ()
        if parts:
            yield Piece(parts, thought=text)


def _texts(answer: Answer) -> Iterator[Piece]:
    older = not is_gemini_3(answer.request.model)
    for at, text in enumerate(answer.completion.family.cut_text(answer.turn.text)):
        signed = older and at == 0 and answer.request.incoming.tools and not answer.completion.calls
        signature = {"thoughtSignature": text_signature(answer)} if signed and answer.completion.reasoning else {}
        yield Piece(({"text": text, **signature},), written=text)


def text_signature(answer: Answer) -> str:
    """Return the signature of an answer without calls."""
    return sign_part(answer.request.model, [answer.completion.reasoning, answer.turn.text])


def _images(answer: Answer) -> Iterator[Piece]:
    for url in answer.turn.images:
        kind, _, data = url.removeprefix("data:").partition(";base64,")
        yield Piece(({"inlineData": {"mimeType": kind, "data": data}},))


def call_part(answer: Answer, at: int, call: WireCall, arguments: dict[str, Any]) -> Part:
    """Return a call as one part; only the first of a step is signed."""
    made: Part = {"functionCall": {"name": call.name, "args": arguments}}
    if is_gemini_3(answer.request.model):
        made["functionCall"]["id"] = _call_id(call.id)
    return made | _call_signature(answer, at, call, arguments)


def _call_id(made: str) -> str:
    """Return an id like those of Gemini 3; the fault `sim-same-id` has the only one that looks so already."""
    return made if made.startswith("call_") else f"call_{int.from_bytes(sha256(made.encode()).digest()[:4]) % 10**7:07}"


def _call_signature(answer: Answer, at: int, call: WireCall, arguments: dict[str, Any]) -> Part:
    needed = at == 0 and (is_gemini_3(answer.request.model) or answer.completion.reasoning)
    return {"thoughtSignature": sign_part(answer.request.model, [call.name, arguments])} if needed else {}


def _calls(answer: Answer) -> Iterator[Piece]:
    calls = list(enumerate(expressible(answer)))
    if answer.request.streams_arguments:
        for at, (call, arguments) in calls:
            signature = _call_signature(answer, at, call, arguments)
            for number, part in enumerate(fragments(call.name, arguments, signature)):
                yield Piece((part,), written=call.name + call.arguments if number == 0 else "")
        return
    parts = [(call_part(answer, at, call, arguments), call.name + call.arguments) for at, (call, arguments) in calls]
    if is_gemini_3(answer.request.model):
        yield from (Piece((part,), written=written) for part, written in parts)
    elif parts:
        yield Piece(tuple(part for part, _ in parts), written="".join(written for _, written in parts))


def _calls_stand_alone(answer: Answer) -> bool:
    """Return whether a chunk follows the calls: Gemini 3 sends an empty text at the end."""
    return bool(expressible(answer)) and is_gemini_3(answer.request.model) and not answer.request.streams_arguments


def _last_parts(answer: Answer, finish: str, *, signed: bool) -> tuple[Part, ...]:
    if signed and finish in ("STOP", "MAX_TOKENS"):
        return ({"text": "", "thoughtSignature": text_signature(answer)},)
    return ({"text": ""},) if finish == "STOP" and expressible(answer) else ()
