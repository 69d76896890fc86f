"""Ids of output items and encrypted reasoning, which the API recognizes when they come back.

An id contains the number of its response and a signature, which says whether the response was stored and whether it
reasoned. Encrypted reasoning belongs to one item and one model. The API may encrypt the same reasoning several times:
the recorded events `output_item.done` and `response.completed` differ.
"""

import re
from dataclasses import dataclass

from ...signatures import sign, signed_id
from .models import simulated_id

PREFIXES = {"message": "msg", "function_call": "fc", "reasoning": "rs"}
_ID = re.compile(r"(?P<prefix>[a-z]+)_(?P<number>[0-9a-f]{16})(?P<position>[0-9a-f]{2})[0-9a-f]{32}")
_HEAD = "gAAAAAB"


@dataclass(frozen=True, slots=True)
class Origin:
    """The response that an item is from: its number, and whether it was stored and had reasoning."""

    number: str
    stored: bool
    reasoned: bool

    def item_id(self, prefix: str, position: int) -> str:
        """Return the id of an output item."""
        signature = signed_id(prefix, self.number, position, self.stored, self.reasoned).replace("-", "")
        return f"{prefix}_{self.number}{position:02x}{signature}"

    @property
    def reasoning_id(self) -> str:
        """Return the id of the reasoning item, which is the first item."""
        return self.item_id("rs", 0)


def origin_of(item_id: object) -> Origin | None:
    """Return the origin of an item by its id, None if this API did not make the id."""
    match = _ID.fullmatch(item_id) if isinstance(item_id, str) else None
    if not match:
        return None
    for stored in (True, False):
        for reasoned in (True, False):
            origin = Origin(match["number"], stored, reasoned)
            if origin.item_id(match["prefix"], int(match["position"], 16)) == item_id:
                return origin
    return None


def encrypt(model: str, number: str, salt: str) -> str:
    """Return the encrypted reasoning of a response; another salt gives another text with the same meaning."""
    head = number + signed_id("salt", salt)[:8]
    text = sign("openai-responses", simulated_id(model), head, size=190)
    return _HEAD + head + text.replace("+", "-").replace("/", "_")


def number_in(model: str, encrypted: str) -> str | None:
    """Return the number of the response that encrypted reasoning is from, None if this model did not encrypt it."""
    head = encrypted[len(_HEAD) : len(_HEAD) + 24]
    text = sign("openai-responses", simulated_id(model), head, size=190).replace("+", "-").replace("/", "_")
    return head[:16] if encrypted == _HEAD + head + text else None
