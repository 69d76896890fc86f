"""Typed decoding of the frames that contain only a piece of text or of one call's arguments, as nearly all frames do.

The typed decoder builds no dictionary and looks up no absent field. It takes two fifths of the instructions of
`wire/openrouter/decoder.py`, which gives the same parts and decodes all other frames. A frame is rejected here if it
has a value in a field that is typed `None`.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Annotated, Literal, TypeAlias, cast

import msgspec
from msgspec import Meta, Struct

Origin: TypeAlias = tuple[str | None, str | None, str | None]
"""The id, model and provider that a frame names."""


class _Function(Struct, gc=False):
    arguments: str
    name: Literal[""] | None = None


class PlainCall(Struct, gc=False):
    """A piece of a call's arguments."""

    index: Annotated[int, Meta(ge=0, le=2**31)]  # the slow path handles impossible values
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
    logprobs: None = None
    error: None = None


class _OneChoice(Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    first: _Choice


class PlainChunk(Struct, kw_only=True, gc=False):
    """A chunk with one choice and one piece, and nothing else."""

    choices: _OneChoice
    id: str | None = None
    model: str | None = None
    provider: str | None = None
    usage: None = None
    x_groq: None = None
    error: None = None


origin_of = cast("Callable[[PlainChunk], Origin]", attrgetter("id", "model", "provider"))
# Raises one of NOT_PLAIN for any other frame, and for one that is not JSON.
read_plain = msgspec.json.Decoder(PlainChunk).decode
NOT_PLAIN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
