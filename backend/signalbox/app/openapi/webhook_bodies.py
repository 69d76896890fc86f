"""The JSON bodies of requests about webhooks."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from signalbox.core.operation.webhooks import EventKind
from signalbox.intakes.v1_schema import Strict

_LONGEST_GRACE = 30 * 24 * 3600.0

ReceiverUrl = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
Kinds = Annotated[list[EventKind], Field(min_length=1, max_length=20)]


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be printable characters, without line breaks")
    return text


Description = Annotated[str, StringConstraints(max_length=500), AfterValidator(_printable)]


class CreateWebhook(Strict):
    """A new receiver."""

    url: ReceiverUrl = Field(description="Where events are posted.")
    events: Kinds = Field(description="The kinds of events to send.")
    description: Description = ""
    active: bool = True


class UpdateWebhook(Strict):
    """The fields of a receiver to change; the others stay."""

    url: ReceiverUrl | None = Field(default=None, description="A new URL.")
    events: Kinds | None = Field(default=None, description="The kinds of events to send from now on.")
    description: Description | None = None
    active: bool | None = Field(default=None, description="False pauses deliveries; true continues them.")

    @model_validator(mode="after")
    def _something(self) -> "UpdateWebhook":
        if not self.model_fields_set:
            raise ValueError("names no field to change")
        if nulls := sorted(name for name in self.model_fields_set if getattr(self, name) is None):
            raise ValueError(f"{nulls[0]} must not be null")
        return self


class RotateWebhook(Strict):
    """How a receiver gets a new secret."""

    grace_seconds: Annotated[float, Field(ge=0, le=_LONGEST_GRACE, allow_inf_nan=False)] = Field(
        default=24 * 3600.0, description="How long requests are signed with the former secret too."
    )
