"""Validates the body of contract v1.1, some messages at a time: each call into C holds the GIL until it returns."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.intakes.intake import Body
from signalbox.intakes.v1_schema import MOST_MESSAGES, ChatRequest, MessageIn
from signalbox.intakes.validation import fault_in, validated

# Messages, parts and calls that are validated in one call into C.
_PER_SLICE = 1_000
# More than twice as many as exist.
_MOST_FIELDS = 100
_VERBATIM = {"messages", "provider", "response_format"}


class _Messages(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    messages: Annotated[list[MessageIn], Field(min_length=1)]


def body_of(value: JsonObject) -> Body[ChatRequest]:
    """Validate a body; raises RequestError naming the invalid field."""
    if len(value) > _MOST_FIELDS:
        raise RequestError(Code.UNKNOWN_FIELD, f"The request has {len(value):,} fields, and most do not exist.", "body")
    request = _validated(value)
    return Body(request, _canonical(request, value))


def _validated(value: JsonObject) -> ChatRequest:
    messages = value.get("messages")
    slices = [*_slices(messages)] if isinstance(messages, list) and len(messages) <= MOST_MESSAGES else []
    if not isinstance(messages, list) or len(slices) < 2:
        return validated(value, ChatRequest)
    request = validated({**value, "messages": messages[slices[0]]}, ChatRequest)
    for one in slices[1:]:
        try:
            further = _Messages.model_validate({"messages": messages[one]}).messages
        except ValidationError as error:
            raise fault_in(error, value, skipped=one.start) from None
        if request.messages is not None:
            request.messages += further
    return request


def _canonical(request: ChatRequest, value: JsonObject) -> JsonObject:
    """Return the fields that the request sets as JSON; those that may hold any JSON, and the messages, unchanged."""
    fields: JsonObject = request.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=_VERBATIM)
    fields.update((name, value[name]) for name in _VERBATIM & value.keys())
    return fields


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
