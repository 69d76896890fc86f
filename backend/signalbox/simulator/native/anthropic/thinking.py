"""Thinking blocks with signatures, which the API verifies when the blocks come back."""

from typing import Any

from ...signatures import sign

_HEAD = "EqoB"
_NONCE = 16  # characters


def thinking_block(model: str, reasoning: str, *, omitted: bool = False) -> dict[str, Any]:
    """Return the signed block of a reasoning; `omitted`: the text is empty, only the signature is shown."""
    shown = "" if omitted else reasoning
    return {"type": "thinking", "thinking": shown, "signature": _signed("thinking", model, reasoning, shown)}


def redacted_block(model: str, reasoning: str) -> dict[str, Any]:
    """Return the block of a reasoning that only Anthropic can read."""
    return {"type": "redacted_thinking", "data": _signed("redacted", model, reasoning, "")}


def is_unaltered(model: str, block: dict[str, Any]) -> bool:
    """Return whether a block is as this model sent it: the text and the signature of each other, and of this model."""
    if block["type"] == "redacted_thinking":
        return _verify("redacted", model, "", block["data"])
    return _verify("thinking", model, block["thinking"], block["signature"])


def _signed(kind: str, model: str, reasoning: str, shown: str) -> str:
    """Sign what is shown; the nonce makes signatures of equal texts differ, such as those of omitted ones."""
    nonce = sign("anthropic-messages", model, reasoning, size=12)
    return _HEAD + nonce + sign("anthropic-messages", kind, model, nonce, shown, size=180)


def _verify(kind: str, model: str, shown: str, signature: str) -> bool:
    nonce = signature[len(_HEAD) : len(_HEAD) + _NONCE]
    return signature == _HEAD + nonce + sign("anthropic-messages", kind, model, nonce, shown, size=180)
