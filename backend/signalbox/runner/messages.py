"""Functions that make messages."""

from base64 import b64encode
from collections.abc import Sequence

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import (
    AssistantMessage,
    ContentPart,
    ImagePart,
    Message,
    SystemMessage,
    TextPart,
    UserMessage,
)


def user(text: str, *, images: Sequence[str | ImagePart] = ()) -> UserMessage:
    """Return a message of the user; `images` are https or data URLs, or the result of `image`."""
    if not images:
        return UserMessage(text)
    parts: list[ContentPart] = [TextPart(text)] if text else []
    parts += [ImagePart(one) if isinstance(one, str) else one for one in images]
    return UserMessage(tuple(parts))


def system(text: str) -> SystemMessage:
    """Return instructions of the developer."""
    return SystemMessage(text)


def assistant(text: str) -> AssistantMessage:
    """Return an earlier answer of the model."""
    return AssistantMessage(text)


def image(data: bytes, media_type: str) -> ImagePart:
    """Return an image from its bytes; `media_type` is for example "image/png"."""
    return ImagePart(f"data:{media_type};base64,{b64encode(data).decode()}")


def as_messages(given: str | Message | Sequence[Message]) -> list[Message]:
    """Return a question as a list of messages; raises RequestError for an empty one."""
    messages: list[Message] = [*_listed(given)]
    for place, message in enumerate(messages):
        if not isinstance(message, Message):  # pyright: ignore[reportUnnecessaryIsInstance]
            words = f"messages[{place}]: expected a message, as user() makes one, got {type(message).__name__}"
            raise RequestError(Code.INVALID_REQUEST, words, f"messages[{place}]")
    if not messages:
        raise RequestError(Code.INVALID_REQUEST, "messages: expected at least one", "messages")
    return messages


def _listed(given: str | Message | Sequence[Message]) -> Sequence[Message]:
    if isinstance(given, str):
        return [user(given)]
    return [given] if isinstance(given, Message) else given
