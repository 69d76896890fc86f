"""Checks how input items belong together: calls and results, reasoning and the items after it."""

from typing import Any

from ..errors import NativeError
from .errors import error_of, invalid
from .ids import Origin, number_in, origin_of
from .items import Item

_OUTPUT = ("message", "function_call", "reasoning", "web_search_call", "unheard_of")


def check_history(items: list[Item], model: str, *, stored: bool) -> None:
    """Reject an input whose items do not belong together; `stored`: the request has `store`."""
    _check_unique(items)
    _check_pairs(items)
    for at, item in enumerate(items):
        match item["type"]:
            case "reasoning":
                _check_reasoning(item, items[at + 1 :], model, stored=stored)
            case "function_call" | "message":
                _check_has_reasoning(item, items[:at])
            case "item_reference":
                raise _not_found(str(item.get("id")), stored=stored)
            case _:
                pass


def _check_unique(items: list[Item]) -> None:
    seen: set[Any] = set()
    for item in items:
        name = item.get("id")
        if name is not None and name in seen:
            raise invalid(f"Duplicate item found with id {name}. Remove duplicate items from your input and try again.")
        seen.add(name)


def _check_pairs(items: list[Item]) -> None:
    """Every call has one result after it, and every result has a call before it (quirks A15, D1)."""
    called: set[str] = set()
    answered: set[str] = set()
    for item in items:
        if item["type"] == "function_call":
            if item["call_id"] in called:
                raise invalid(f"Duplicate function_call found with call_id {item['call_id']}.", "input")
            called.add(item["call_id"])
        if item["type"] == "function_call_output":
            if item["call_id"] not in called:
                raise invalid(f"No tool call found for function call output with call_id {item['call_id']}.", "input")
            if item["call_id"] in answered:
                raise invalid(f"Duplicate function_call_output found with call_id {item['call_id']}.", "input")
            answered.add(item["call_id"])
    for item in items:
        if item["type"] == "function_call" and item["call_id"] not in answered:
            raise invalid(f"No tool output found for function call {item['call_id']}.", "input")


def _check_reasoning(item: Item, after: list[Item], model: str, *, stored: bool) -> None:
    """Reasoning is encrypted by this model for this item, or stored; and an item of its answer follows (quirk B4)."""
    name = item.get("id")
    encrypted = item.get("encrypted_content")
    if encrypted is not None:
        _check_encrypted(name, encrypted, model)
    elif item.get("content"):
        pass  # readable reasoning, of servers that do not encrypt it
    elif (origin := origin_of(name)) is None or not origin.stored:
        raise _not_found(str(name), stored=stored)
    if name is not None and not _continues(after):
        raise invalid(f"Item '{name}' of type 'reasoning' was provided without its required following item.", "input")


def _check_encrypted(name: str | None, encrypted: str, model: str) -> None:
    number = number_in(model, encrypted)
    if number is None:
        reason = "Encrypted content could not be decrypted or parsed."
    elif name is not None and ((origin := origin_of(name)) is None or origin.number != number):
        reason = "Encrypted content item_id did not match the target item id."
    else:
        return
    subject = f"for item {name}" if name else f"{encrypted[:4]}...{encrypted[-4:]}"
    text = f"The encrypted content {subject} could not be verified. Reason: {reason}"
    raise invalid(text, code="invalid_encrypted_content")


def _continues(after: list[Item]) -> bool:
    """Return whether an item of the same answer follows."""
    following = after[0] if after else {}
    return following.get("type") in _OUTPUT and following.get("role", "assistant") == "assistant"


def _check_has_reasoning(item: Item, before: list[Item]) -> None:
    """An item with the id of an answer that reasoned needs the reasoning of this answer.

    Without its id, an item is accepted alone (recorded: the second request of chain-018).
    """
    origin = origin_of(item.get("id"))
    if origin is None or not origin.reasoned or _is_there(origin, before):
        return
    text = f"Item '{item['id']}' of type '{item['type']}' was provided without its required 'reasoning' item: "
    raise invalid(f"{text}'{origin.reasoning_id}'.", "input")


def _is_there(origin: Origin, before: list[Item]) -> bool:
    """Return whether the reasoning of an answer is among the items, by its id or by its encrypted content."""
    reasoning = (item for item in before if item["type"] == "reasoning")
    return any(
        item.get("id") == origin.reasoning_id
        or (item.get("id") is None and origin.number in str(item.get("encrypted_content"))[:32])
        for item in reasoning
    )


def _not_found(name: str, *, stored: bool) -> NativeError:
    text = f"Item with id '{name}' not found."
    if not stored:
        text += (
            " Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove "
            "this item from your input."
        )
    return error_of(404, text, param="input")
