"""Validates the body of contract v1.1."""

from typing import Annotated, TypeVar

from msgspec.structs import replace
from pydantic import ConfigDict, Field

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import JsonObject
from signalbox.intakes.intake import Body
from signalbox.intakes.message_slices import HasMessages, validated_in_slices
from signalbox.intakes.v1_schema import ChatRequest, MessageIn, VariantsRequest

# More than twice as many as exist.
_MOST_FIELDS = 100
_VERBATIM = {"messages", "provider", "response_format"}
_EXCLUDED = {*_VERBATIM, "stream"}


class _Messages(HasMessages):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    messages: Annotated[list[MessageIn], Field(min_length=1)]


Request = TypeVar("Request", bound=ChatRequest)


def body_of(value: JsonObject) -> Body[ChatRequest]:
    """Validate a body that asks for a stream unless it says otherwise; raises RequestError naming the invalid field."""
    return _body_of(value, ChatRequest, is_streamed=True)


def whole_body_of(value: JsonObject) -> Body[ChatRequest]:
    """Validate a body that asks for one answer unless it says otherwise; raises RequestError."""
    return _body_of(value, ChatRequest, is_streamed=False)


def variants_body_of(value: JsonObject) -> Body[VariantsRequest]:
    """Validate a body that asks for variants, whatever `stream` is: they are read as streams. Raises RequestError."""
    return replace(_body_of(value, VariantsRequest, is_streamed=True), is_streamed=True)


def _body_of(value: JsonObject, model: type[Request], *, is_streamed: bool) -> Body[Request]:
    if len(value) > _MOST_FIELDS:
        raise RequestError(Code.UNKNOWN_FIELD, f"The request has {len(value):,} fields, and most do not exist.", "body")
    request = validated_in_slices(value, model, _Messages)
    return Body(request, _canonical(request, value), is_streamed if request.stream is None else request.stream)


def _canonical(request: ChatRequest, value: JsonObject) -> JsonObject:
    """Return the fields that the request sets as JSON; those that may hold any JSON, and the messages, unchanged.

    Without `stream`: how an answer is sent is not part of the question.
    """
    fields: JsonObject = request.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=_EXCLUDED)
    fields.update((name, value[name]) for name in _VERBATIM & value.keys())
    return fields
