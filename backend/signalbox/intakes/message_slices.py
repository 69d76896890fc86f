"""Validates long conversations some messages at a time: each call into C holds the GIL until it returns."""

from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.intakes.v1_schema import MOST_MESSAGES
from signalbox.intakes.validation import fault_in, validated

# Messages, parts and calls that are validated in one call into C.
_PER_SLICE = 1_000


class HasMessages(BaseModel):
    """A model of bodies, or of a part of their messages."""

    messages: Any


Request = TypeVar("Request", bound=BaseModel)


def validated_in_slices(value: JsonObject, model: type[Request], part: type[HasMessages]) -> Request:
    """Return a body as a model, whose `messages` are validated by `part`, too; raises RequestError naming the field."""
    messages = value.get("messages")
    slices = [*_slices(messages)] if isinstance(messages, list) and len(messages) <= MOST_MESSAGES else []
    if not isinstance(messages, list) or len(slices) < 2:
        return validated(value, model)
    request: Any = validated({**value, "messages": messages[slices[0]]}, model)
    for one in slices[1:]:
        try:
            request.messages += part.model_validate({"messages": messages[one]}).messages
        except ValidationError as error:
            raise fault_in(error, value, skipped=one.start) from None
    return request


def _slices(messages: list[JsonValue]) -> Iterator[slice]:
    start = weight = 0
    for place, message in enumerate(messages):
        weight += _weight(message)
        if weight >= _PER_SLICE:
            yield slice(start, place + 1)
            start, weight = place + 1, 0
    if start < len(messages):
        yield slice(start, len(messages))


def _weight(message: JsonValue) -> int:
    fields = message if isinstance(message, dict) else {}
    return 1 + sum(len(part) for name in ("content", "tool_calls") if isinstance(part := fields.get(name), list))
