"""The messages of a conversation as values, independent of any provider's JSON."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias, cast

from msgspec import Struct

JsonValue: TypeAlias = bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None
JsonObject: TypeAlias = dict[str, JsonValue]

# The deepest JSON accepted from a model. Values that cannot be serialized again would end the run; orjson serializes
# 254 levels (quirk G6).
MAX_DEPTH = 128


def weight_of(messages: Iterable["Message"], enough: int) -> int:
    """Estimate the size of messages in characters; counting stops at `enough`."""
    weight = 0
    left: list[object] = []
    for message in messages:
        weight += _OVERHEAD
        if isinstance(message, AssistantMessage):
            weight += len(message.content) + len(message.reasoning) + _OVERHEAD * len(message.reasoning_details)
            weight += sum(map(_weight_of_part, message.images))
            left += [call.arguments for call in message.calls]
            left += message.native.items if message.native is not None else ()
        elif isinstance(message.content, str):
            weight += len(message.content)
        else:
            weight += sum(_weight_of_part(part) for part in message.content)
        while left and weight < enough:
            value = left.pop()
            weight += len(value) if isinstance(value, str) else _PER_VALUE
            if isinstance(value, dict | list):
                left += value.values() if isinstance(value, dict) else value
        if weight >= enough:
            break
    return weight


# Characters added for each message or part, and for each value in a call's arguments that is not a string.
_OVERHEAD, _PER_VALUE = 64, 8


def nests_too_deeply(value: JsonValue) -> bool:
    """Return whether lists and objects are nested deeper than MAX_DEPTH."""
    layer: list[JsonValue] = [value]
    for _ in range(MAX_DEPTH + 1):
        layer = [
            inner
            for outer in layer
            for inner in (outer if isinstance(outer, list) else outer.values() if isinstance(outer, dict) else ())
            if isinstance(inner, list | dict)
        ]
        if not layer:
            return False
    return True


class TextPart(Struct, frozen=True):
    """A piece of plain text.

    `cache_control` of any part is the client's wish that the provider caches the prompt up to this part.
    """

    text: str
    cache_control: JsonObject | None = None


class ImagePart(Struct, frozen=True):
    """An image with an https URL or a data URL. `detail` is "low", "high" or "auto"."""

    url: str
    detail: str | None = None
    cache_control: JsonObject | None = None


_IMAGE_URLS = ("https://", "http://", "data:image/")


def image_parts(images: object) -> list[ImagePart]:
    """Return images and URLs of images as images.

    Raises TypeError or ValueError; the message begins with the place of the wrong image.
    """
    if isinstance(images, str | bytes) or not isinstance(images, Iterable):
        raise TypeError(f": expected a list of images, got {type(images).__name__}")
    return [_image_part(f"[{place}]", one) for place, one in enumerate(cast("Iterable[object]", images))]


def _image_part(place: str, one: object) -> ImagePart:
    if isinstance(one, str):
        if not one.startswith(_IMAGE_URLS):
            raise ValueError(f"{place}: expected a URL that begins with https:// or data:image/")
        one = ImagePart(one)
    if not isinstance(one, ImagePart) or type(cast(object, one.url)) is not str:
        raise TypeError(f"{place}: expected an image or its URL, got {type(one).__name__}")
    try:
        one.url.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{place}: its URL has a lone surrogate, which UTF-8 cannot encode") from None
    return one


class FilePart(Struct, frozen=True):
    """A file by https or data URL (`data`)."""

    filename: str
    data: str
    cache_control: JsonObject | None = None


ContentPart: TypeAlias = TextPart | ImagePart | FilePart
Content: TypeAlias = str | tuple[ContentPart, ...]


def _weight_of_part(part: ContentPart) -> int:
    text = part.text if isinstance(part, TextPart) else part.url if isinstance(part, ImagePart) else part.data
    return _OVERHEAD + len(text)


class ReasoningDetail(Struct, frozen=True):
    """One opaque reasoning item of a provider, unchanged.

    `raw` is sent back unchanged, and only to the model that produced it: providers sign these items and answer 400 to
    a changed or foreign one (quirks B1 to B4).
    """

    raw: Mapping[str, JsonValue]

    @property
    def item_id(self) -> JsonValue:
        """The id of the item, or of the call that it signs."""
        return self.raw.get("id")

    def with_id(self, call_id: str) -> "ReasoningDetail":
        """Return a copy with another id; the order of the keys does not change."""
        return ReasoningDetail({key: call_id if key == "id" else value for key, value in self.raw.items()})


class Native(Struct, frozen=True):
    """A model's turn as its API sent it: the blocks, items or parts of the answer, in order and unchanged.

    A dialect sends `items` back instead of the message's other fields, because signed and encrypted reasoning must not
    change. Only the model that produced them accepts them, and only in the same tool loop. `upstream` is the name of
    the configured upstream.
    """

    dialect: str
    items: tuple[JsonObject, ...]
    upstream: str = ""


class ToolCall(Struct, frozen=True):
    """One tool call; `id` is ours, `upstream_id` is the provider's.

    `raw` is the text of arguments that could not be parsed; `arguments` is then empty, because providers reject
    invalid JSON.
    """

    id: str
    name: str
    arguments: JsonObject
    upstream_id: str | None = None
    raw: str | None = None


class SystemMessage(Struct, frozen=True):
    """Instructions from the developer."""

    content: Content


class UserMessage(Struct, frozen=True):
    """A message from the user."""

    content: Content


# The `reasoning_field` of a turn without reasoning, for providers that want the field on every step.
NO_REASONING = ""


class AssistantMessage(Struct, frozen=True):
    """A model's turn: its text, its reasoning and its tool calls.

    `model` and `provider` say where the reasoning comes from. `upstream` is the name of the configured upstream that
    sent the reasoning. `reasoning_field` is the name of the JSON field that contained plain reasoning, or
    `NO_REASONING`. Some providers require later requests to contain the reasoning in the same field (quirk B5).
    """

    content: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    reasoning_details: tuple[ReasoningDetail, ...] = ()
    reasoning_field: str | None = None
    model: str | None = None
    provider: str | None = None
    images: tuple[ImagePart, ...] = ()
    native: Native | None = None
    upstream: str = ""


class ToolMessage(Struct, frozen=True):
    """The result of one call. `content` is always one string (quirk C14).

    If `untrusted` is True, `content` contains external text (quirk G3). If `is_error` is True, the call failed, and
    `content` describes the failure. If the upstream's API has a field for failed calls, Signalbox sets this field. The
    model gets `images` after the result.

    For a client tool, the client can send `artifact` and `shown` with the result. The model gets neither of them.
    `artifact` is for people. People see `shown` instead of `content`.
    """

    call_id: str
    name: str
    content: str
    untrusted: bool = True
    cache_control: JsonObject | None = None
    artifact: JsonValue = None
    is_error: bool = False
    shown: str | None = None
    images: tuple[ImagePart, ...] = ()


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage
