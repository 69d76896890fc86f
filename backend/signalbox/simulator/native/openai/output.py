"""The output items of an answer: reasoning, message, calls."""

import hashlib
from collections.abc import Sequence
from typing import Any

from ...completion import Completion
from ...json_values import as_list, as_object
from .accents import ITEMS, PREFIX
from .ids import Origin, encrypt
from .models import abilities_of
from .options import ENCRYPTED
from .response import End

Item = dict[str, Any]


def number_of(completion: Completion) -> str:
    """Return the number of a response, which its ids contain."""
    return hashlib.sha256(completion.id.encode()).hexdigest()[:16]


def output_items(completion: Completion, body: dict[str, Any], end: End) -> list[Item]:
    """Return the complete output items; the last one is incomplete if the answer is."""
    turn, model = completion.limited.turn, str(body["model"])
    origin = Origin(number_of(completion), body.get("store") is not False, bool(completion.reasoning))
    items: list[Item] = []
    if completion.reasoning:
        items.append(_reasoning(completion, body, origin))
    if turn.text or turn.refusal:
        has_phase = abilities_of(model).has_phases
        phase = {"phase": "commentary" if completion.calls else "final_answer"} if has_phase else {}
        items.append(_message(origin.item_id("msg", len(items)), _part(turn.text, turn.refusal), phase))
    for call in completion.calls:
        items.append(
            {
                "id": origin.item_id("fc", len(items)),
                "type": "function_call",
                "status": "completed",
                "arguments": call.arguments,
                "call_id": call.id,
                "name": call.name,
            }
        )
    if end.status == "incomplete" and items and "status" in items[-1]:
        items[-1]["status"] = "incomplete"
    accent = ITEMS.get(model.removeprefix(PREFIX))
    return accent(items, origin) if accent else items


def _reasoning(completion: Completion, body: dict[str, Any], origin: Origin) -> Item:
    item: Item = {"id": origin.reasoning_id, "type": "reasoning"}
    if ENCRYPTED in as_list(body.get("include")):
        item["encrypted_content"] = encrypt(str(body["model"]), origin.number, "done")
    wanted = as_object(body.get("reasoning")).get("summary")
    texts = completion.reasoning.split("\n\n") if wanted else []
    return {**item, "summary": [{"type": "summary_text", "text": text} for text in texts]}


def _part(text: str, refusal: str) -> dict[str, Any]:
    if refusal:
        return {"type": "refusal", "refusal": refusal}
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


def _message(name: str, part: dict[str, Any], phase: dict[str, str]) -> Item:
    return {"id": name, "type": "message", "status": "completed", "content": [part], **phase, "role": "assistant"}


def encrypted_again(items: Sequence[Item], model: str, number: str) -> list[Item]:
    """Return the items of `response.completed`, whose reasoning is encrypted once more: another text, equally valid."""
    return [
        {**item, "encrypted_content": encrypt(model, number, "completed")} if "encrypted_content" in item else item
        for item in items
    ]
