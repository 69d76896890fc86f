"""Adapts roles and content to what a provider accepts, on the copy that is sent."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, takewhile

from msgspec.structs import replace

from signalbox.chat.history.tool_pairing import Exchange
from signalbox.core.messages import (
    AssistantMessage,
    Content,
    ContentPart,
    ImagePart,
    Message,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from signalbox.core.security.untrusted import delimited_message
from signalbox.profiles import Profile
from signalbox.wire.json_text import dumps

# A placeholder for the answer of a stopped run.
BRIDGE = "(This was stopped before an answer was given.)"
BEGIN = "(The beginning of this conversation is not shown.)"
NO_IMAGE = "(An image was here, which this model cannot read.)"
# Providers reject requests that are too large. In characters, an image is about a third larger than its file.
MAX_IMAGE_CHARACTERS = 8_000_000
DREW = "(An image was drawn here.)"
DRAWN = "(The image that you drew in your last answer:)"
IN_WORDS = "(Tools were used here. What they were asked, and what they returned:)"


def as_text(exchange: Exchange) -> list[Message]:
    """Rewrite calls and their results as text, for providers that reject the calls (quirks B2, C3).

    The results go into a user turn, delimited like all results (quirk G3). In an assistant turn they would teach the
    model to write calls as text.
    """
    head = exchange.head
    if not isinstance(head, AssistantMessage):
        return [head, *exchange.results]
    texts = [
        f"{call.name} {dumps(call.arguments).decode()}\n{delimited_message(result).content}"
        for call, result in zip(head.calls, exchange.results, strict=True)
    ]
    answer: list[Message] = [AssistantMessage(head.content)] if head.content.strip() else []
    return [*answer, UserMessage("\n\n".join([IN_WORDS, *texts]))] if texts else answer


def with_generated_images(messages: Sequence[Message], *, sees_images: bool, most: int) -> list[Message]:
    """Send generated images in the user's next turn, because providers reject images in an assistant turn.

    The newest `most` are sent, unless they are too large. The others become placeholders, as do all images for a model
    that accepts none.
    """
    out = [*messages]
    left, room = most if sees_images else 0, MAX_IMAGE_CHARACTERS
    asked: int | None = None
    for at in range(len(out) - 1, -1, -1):
        message = out[at]
        if isinstance(message, UserMessage):
            asked = at
        elif isinstance(message, AssistantMessage) and message.images:
            user = None if asked is None else out[asked]
            sent = _within_limit(message.images[:left], room)
            if asked is not None and sent and isinstance(user, UserMessage):
                left, room = left - len(sent), room - sum(len(image.url) for image in sent)
                out[asked] = UserMessage((TextPart(DRAWN), *sent, *_parts(user.content)))
            words = DREW if sees_images else NO_IMAGE
            content = "\n\n".join(filter(str.strip, (message.content, words)))
            out[at] = replace(message, content=content, images=())
    return out


def _within_limit(images: Sequence[ImagePart], room: int) -> list[ImagePart]:
    """Return the images of one answer that fit into the limit, skipping those that do not."""
    fitting: list[ImagePart] = []
    for image in images:
        if len(image.url) <= room:
            fitting.append(image)
            room -= len(image.url)
    return fitting


def without_images(message: UserMessage | SystemMessage) -> UserMessage | SystemMessage:
    """Replace each image by a placeholder."""
    if isinstance(message.content, str):
        return message
    parts = (TextPart(NO_IMAGE) if isinstance(part, ImagePart) else part for part in message.content)
    return replace(message, content=tuple(parts))


def has_image_placeholder(message: Message) -> bool:
    """Whether an image of this message was replaced by a placeholder."""
    content = message.content
    if isinstance(message, AssistantMessage):
        return NO_IMAGE in message.content
    return not isinstance(content, str) and any(isinstance(p, TextPart) and p.text == NO_IMAGE for p in content)


def in_order(messages: Iterable[Message], profile: Profile, *, merge: bool = False) -> tuple[Message, ...]:
    """Return the messages in an order of roles that the model family accepts (quirk C7).

    `merge`: join consecutive user messages; results written as text then become part of the question.
    """
    if not (merge or profile.alternating_roles or profile.assistant_after_tools or profile.user_first):
        return tuple(messages)
    out: list[Message] = []
    for message in _merged(messages) if merge or profile.alternating_roles else messages:
        before = out[-1] if out else None
        match before, message:
            case ToolMessage(), UserMessage() if profile.assistant_after_tools:
                out.append(AssistantMessage(BRIDGE))
            case (None | SystemMessage(), AssistantMessage()) if profile.user_first:
                out.append(UserMessage(BEGIN))
            case _:
                pass
        out.append(message)
    return tuple(out)


def _merged(messages: Iterable[Message]) -> Iterator[Message]:
    """Join consecutive user messages at once; joining them pair by pair would be quadratic."""
    for is_user, row in groupby(messages, key=lambda message: isinstance(message, UserMessage)):
        if is_user:
            yield UserMessage(_joined([message.content for message in row if isinstance(message, UserMessage)]))
        else:
            yield from row


def _joined(contents: Sequence[Content]) -> Content:
    """Join leading texts with blank lines; after the first message with parts, each text becomes a part."""
    texts = [*takewhile(lambda content: isinstance(content, str), contents)]
    first = "\n\n".join(text for text in texts if isinstance(text, str))
    if len(texts) == len(contents):
        return first
    heads = (TextPart(first),) if texts else ()
    return (*heads, *chain.from_iterable(map(_parts, contents[len(texts) :])))


def _parts(content: Content) -> tuple[ContentPart, ...]:
    return (TextPart(content),) if isinstance(content, str) else content
