"""Encodes an answer as `GenerateContentResponse` objects: the chunks of a stream, or one body."""

from typing import Any

from ...completion import estimate_tokens
from .contents import Part
from .fields import field
from .parts import Answer, Piece, call_part, ending, expressible, pieces, text_signature

_BLOCKED = {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True}


def chunks(answer: Answer, *, finish_apart: bool = False) -> list[dict[str, Any]]:
    """Return the objects of a stream; the usage grows with each."""
    if answer.turn.refusal:
        return [_blocked_prompt(answer)]
    made: list[dict[str, Any]] = []
    thought, written = "", ""
    for piece in pieces(answer, finish_apart=finish_apart):
        thought, written = thought + piece.thought, written + piece.written
        # Hidden thoughts end before the first chunk.
        spent = thought if answer.request.shows_thoughts else answer.completion.reasoning
        if piece.finish:
            spent = answer.completion.reasoning
        made.append(_response(answer, candidate(piece), usage(answer, spent, written)))
    return made


def whole(answer: Answer) -> dict[str, Any]:
    """Return the object of an answer that is not streamed."""
    if answer.turn.refusal:
        return _blocked_prompt(answer)
    finish, message = ending(answer)
    piece = Piece(tuple(_whole_parts(answer, finish)), finish=finish, message=message)
    written = answer.turn.text + "".join(call.name + call.arguments for call, _ in expressible(answer))
    return _response(answer, candidate(piece), usage(answer, answer.completion.reasoning, written))


def _whole_parts(answer: Answer, finish: str) -> list[Part]:
    """Return the parts of the stream, with the pieces of thoughts and of the text joined."""
    parts = [part for piece in pieces(answer) for part in piece.parts]
    thought = "".join(part["text"] for part in parts if part.get("thought"))
    made: list[Part] = [{"text": thought, "thought": True}] if thought else []
    calls = expressible(answer)
    if answer.turn.text:
        signed = any(field(part, "thoughtSignature") for part in parts) and not calls
        made.append({"text": answer.turn.text, **({"thoughtSignature": text_signature(answer)} if signed else {})})
    made += [part for part in parts if "inlineData" in part]
    return made + [call_part(answer, at, call, arguments) for at, (call, arguments) in enumerate(calls)]


def candidate(piece: Piece) -> dict[str, Any]:
    """Return the only candidate of a chunk."""
    content: dict[str, Any] = {"parts": list(piece.parts)} if piece.parts else {}
    made: dict[str, Any] = {"content": {**content, "role": "model"}}
    if piece.finish:
        made["finishReason"] = piece.finish
    made["index"] = 0
    if piece.finish == "SAFETY":
        made["safetyRatings"] = [_BLOCKED]
    if piece.message:
        made["finishMessage"] = piece.message
    return made


def usage(answer: Answer, thought: str, written: str) -> dict[str, Any]:
    """Return the tokens so far; counts of nothing are left out, as in all recordings."""
    prompt = answer.prompt
    thoughts, candidates = estimate_tokens(thought), estimate_tokens(written)
    cached = answer.cached
    counts: dict[str, Any] = {"promptTokenCount": prompt}
    counts |= {"candidatesTokenCount": candidates} if candidates else {}
    counts["totalTokenCount"] = prompt + candidates + thoughts
    counts |= {"cachedContentTokenCount": cached} if cached else {}
    counts["promptTokensDetails"] = [{"modality": "TEXT", "tokenCount": prompt}]
    counts |= {"cacheTokensDetails": [{"modality": "TEXT", "tokenCount": cached}]} if cached else {}
    return counts | ({"thoughtsTokenCount": thoughts} if thoughts else {})


def _response(answer: Answer, candidate: dict[str, Any], counts: dict[str, Any]) -> dict[str, Any]:
    return {"candidates": [candidate], "usageMetadata": counts, **_ids(answer)}


def _ids(answer: Answer) -> dict[str, str]:
    return {"modelVersion": answer.request.model, "responseId": answer.completion.id.rpartition("-")[2]}


def _blocked_prompt(answer: Answer) -> dict[str, Any]:
    """Return the object of a prompt that the filters reject: it has no candidates."""
    feedback = {"blockReason": "PROHIBITED_CONTENT"}
    return {"promptFeedback": feedback, "usageMetadata": usage(answer, "", ""), **_ids(answer)}
