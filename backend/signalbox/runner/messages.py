"""Functions that make messages."""

import re
from base64 import b64encode
from collections.abc import Sequence
from typing import Any, cast

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import (
    AssistantMessage,
    ContentPart,
    FilePart,
    ImagePart,
    Message,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from signalbox.runner.arguments import images_of, object_of, text_of, wrong

_IMAGE_TYPE = re.compile(r"image/[A-Za-z0-9.+-]+")


def user(text: str, *, images: Sequence[str | ImagePart] = ()) -> UserMessage:
    """Return a user message. Each image is an https URL, a data URL, or the return value of `image`."""
    text_of("text", text)
    if not (pictures := images_of("images", images)):
        return UserMessage(text)
    parts: list[ContentPart] = [TextPart(text)] if text else []
    return UserMessage((*parts, *pictures))


def system(text: str) -> SystemMessage:
    """Return a system message with instructions of the developer."""
    return SystemMessage(text_of("text", text))


def assistant(text: str) -> AssistantMessage:
    """Return an assistant message with an earlier answer of the model."""
    return AssistantMessage(text_of("text", text))


def image(data: bytes, media_type: str) -> ImagePart:
    """Return an image for a message. `media_type` is, for example, "image/png".

    If an argument is invalid, `image` raises RequestError.
    """
    if not isinstance(data, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong("data", "the bytes of an image", data)
    if not isinstance(media_type, str) or not _IMAGE_TYPE.fullmatch(media_type):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong("media_type", "the type of an image, such as image/png", media_type)
    return ImagePart(f"data:{media_type};base64,{b64encode(data).decode()}")


def as_messages(given: str | Message | Sequence[Message]) -> list[Message]:
    """Return a question as a list of messages; raises RequestError for an empty one, or a wrong message."""
    if isinstance(given, str):
        return [UserMessage(text_of("messages", given))]
    try:
        messages: list[Message] = [given] if isinstance(given, Message) else [*given]
    except TypeError:
        raise wrong("messages", "a text or a list of messages", given) from None
    for place, message in enumerate(messages):
        check_message(f"messages[{place}]", message)
    if not messages:
        raise RequestError(Code.INVALID_REQUEST, "messages: expected at least one", "messages")
    return messages


def check_message(field: str, message: Any) -> None:
    """Raise RequestError for a value that is no message, or a message that cannot be sent."""
    match message:
        case SystemMessage(content) | UserMessage(content):
            _check_content(f"{field}.content", content)
        case AssistantMessage():
            text_of(f"{field}.content", message.content)
            text_of(f"{field}.reasoning", message.reasoning)
            for place, call in enumerate(message.calls):
                object_of(f"{field}.calls[{place}].arguments", call.arguments)
            if message.images:
                images_of(f"{field}.images", message.images)
        case ToolMessage():
            text_of(f"{field}.content", message.content)
            if message.images:
                images_of(f"{field}.images", message.images)
        case _:
            raise wrong(field, "a message, as user() makes one", message)


def _check_content(field: str, content: Any) -> None:
    if isinstance(content, str):
        text_of(field, content)
        return
    if not isinstance(content, tuple):
        raise wrong(field, "a text or a tuple of parts", content)
    for place, part in enumerate(cast("tuple[object, ...]", content)):
        match part:
            case TextPart(text):
                text_of(f"{field}[{place}].text", text)
            case ImagePart(url):
                text_of(f"{field}[{place}].url", url)
            case FilePart(filename, data):
                text_of(f"{field}[{place}].filename", filename)
                text_of(f"{field}[{place}].data", data)
            case _:
                raise wrong(f"{field}[{place}]", "a part of a message", part)
