"""A conversation as values: what was said, called and found, independent of any provider's JSON."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from msgspec import Struct

JsonValue: TypeAlias = bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None
JsonObject: TypeAlias = dict[str, JsonValue]

# Nothing of a model is believed beyond this depth: what cannot be written again would end a run (quirk G6; orjson
# writes 254 levels).
MAX_DEPTH = 128


def weight_of(messages: Iterable["Message"], enough: int) -> int:
    """Count about how many characters messages have, up to `enough` of them."""
    weight = 0
    left: list[object] = []
    for message in messages:
        weight += _OVERHEAD
        if isinstance(message, AssistantMessage):
            weight += len(message.content) + len(message.reasoning) + _OVERHEAD * len(message.reasoning_details)
            weight += sum(map(_weight_of_part, message.images))
            left += [call.arguments for call in message.calls]
        elif isinstance(message.content, str):
            weight += len(message.content)
        else:
            weight += sum(_weight_of_part(part) for part in message.content)
        while left and weight < enough:
            value = left.pop()
            weight += len(value) if isinstance(value, str) else _LEAST
            if isinstance(value, dict | list):
                left += value.values() if isinstance(value, dict) else value
        if weight >= enough:
            break
    return weight


# What a message or a part costs beside its text, and a number or a key in a call's arguments.
_OVERHEAD, _LEAST = 64, 8


def nests_too_deeply(value: JsonValue) -> bool:
    """Whether lists and objects stand more than MAX_DEPTH inside each other."""
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
    """A piece of plain text."""

    text: str


class ImagePart(Struct, frozen=True):
    """An image by https or data URL; `detail` is low, high or auto."""

    url: str
    detail: str | None = None


class FilePart(Struct, frozen=True):
    """A file by https or data URL (`data`)."""

    filename: str
    data: str


ContentPart: TypeAlias = TextPart | ImagePart | FilePart
Content: TypeAlias = str | tuple[ContentPart, ...]


def _weight_of_part(part: ContentPart) -> int:
    text = part.text if isinstance(part, TextPart) else part.url if isinstance(part, ImagePart) else part.data
    return _OVERHEAD + len(text)


class ReasoningDetail(Struct, frozen=True):
    """One opaque reasoning item of a provider, kept as it came.

    `raw` goes back unchanged, and only to the model that made it: hosts sign these items and answer 400 to a changed
    or foreign one (quirks B1 to B4).
    """

    raw: Mapping[str, JsonValue]

    @property
    def names(self) -> JsonValue:
        """The id it carries: its own, or that of a call that it signs."""
        return self.raw.get("id")

    def renamed(self, call_id: str) -> "ReasoningDetail":
        """Return it with another id, in the same place."""
        return ReasoningDetail({key: call_id if key == "id" else value for key, value in self.raw.items()})


class ToolCall(Struct, frozen=True):
    """One call of a tool; `id` is ours, `upstream_id` is what the model's host named it.

    `raw` is the text of arguments that cannot be read; `arguments` is empty then, as the model's host takes it.
    """

    id: str
    name: str
    arguments: JsonObject
    upstream_id: str | None = None
    raw: str | None = None


class SystemMessage(Struct, frozen=True):
    """Instructions of the developer."""

    content: Content


class UserMessage(Struct, frozen=True):
    """What the person said."""

    content: Content


class AssistantMessage(Struct, frozen=True):
    """What a model said and called.

    `model` and `provider` tag whose reasoning this is; `reasoning_field` is the wire's name for plain reasoning text,
    kept for hosts that want the text back under the same name (quirk B5).
    """

    content: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    reasoning_details: tuple[ReasoningDetail, ...] = ()
    reasoning_field: str | None = None
    model: str | None = None
    provider: str | None = None
    images: tuple[ImagePart, ...] = ()


class ToolMessage(Struct, frozen=True):
    """The result of one call; content is always one string (quirk C14). `outside`: we have not written it (G3)."""

    call_id: str
    name: str
    content: str
    outside: bool = True


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage
