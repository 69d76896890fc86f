"""The short way of a frame that says only a piece of text, or a piece of one call's arguments, as nearly all do.

A typed decoder reads those without a dictionary and without asking for each field that they lack: two fifths of the
instructions of the long way in `wire/openrouter/decoder.py`, which is for every other frame and gives the same parts.
What is `None` here has a meaning there: a frame that has it does not fit.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Annotated, Literal, TypeAlias, cast

import msgspec
from msgspec import Meta, Struct

Who: TypeAlias = tuple[str | None, str | None, str | None]
"""The id, the model and the provider that a frame names."""


class _Function(Struct, gc=False):
    arguments: str
    name: Literal[""] | None = None


class PlainCall(Struct, gc=False):
    """A piece of a call's arguments."""

    index: Annotated[int, Meta(ge=0, le=2**31)]  # what no index can be is for the long way
    function: _Function
    id: Literal[""] | None = None


class _OneCall(Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    first: PlainCall


class _Nothing(Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    """An empty list."""


class PlainDelta(Struct, gc=False):
    """A piece of text, of a call, both or none."""

    content: str | None = None
    tool_calls: _OneCall | None = None
    reasoning: None = None
    reasoning_content: None = None
    reasoning_details: None = None
    refusal: None = None
    function_call: None = None
    annotations: _Nothing | None = None
    images: _Nothing | None = None


class _Choice(Struct, gc=False):
    delta: PlainDelta
    index: Literal[0] | None = 0
    finish_reason: None = None
    native_finish_reason: None = None
    error: None = None


class _OneChoice(Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    first: _Choice


class PlainChunk(Struct, kw_only=True, gc=False):
    """A chunk of one choice that brings a piece and nothing else; `id`, `model` and `provider` say who speaks."""

    choices: _OneChoice
    id: str | None = None
    model: str | None = None
    provider: str | None = None
    usage: None = None
    x_groq: None = None
    error: None = None


who_of = cast("Callable[[PlainChunk], Who]", attrgetter("id", "model", "provider"))
# Raises one of NOT_PLAIN for any other frame, also for one that is no JSON.
read_plain = msgspec.json.Decoder(PlainChunk).decode
NOT_PLAIN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
