"""The texts of a conversation that the model did not write: they decide which URLs `read_url` may fetch."""

from collections.abc import Iterator, Sequence

import orjson

from signalbox.core.messages import AssistantMessage, Message, SystemMessage, TextPart, ToolMessage, UserMessage
from signalbox.core.security.url_allowlist import UrlSource, composed_in, texts_in

# The `url_argument` of read_url, written out because messages do not contain the specs of their tools.
_URL_ARGUMENT = "url"
# Characters of a conversation that are searched for URLs: some tens of milliseconds of work at most.
_MOST_READ = 2_000_000


def texts_of(messages: Sequence[Message]) -> Iterator[UrlSource]:
    """Yield the newest texts that the model did not write, oldest first."""
    yield from reversed([*_newest_texts(messages)])


def _newest_texts(messages: Sequence[Message]) -> Iterator[UrlSource]:
    """Yield the texts that the model did not write, newest first, up to a total size."""
    left = _MOST_READ
    calls = {call.id: call for message in messages if isinstance(message, AssistantMessage) for call in message.calls}
    composed: dict[str, frozenset[str] | None] = {}  # by call: many results may share one call with long arguments
    for message in reversed(messages):
        is_result = isinstance(message, ToolMessage)
        if is_result and message.call_id not in composed:
            call = calls.get(message.call_id)
            composed[message.call_id] = composed_in(call.name, call.arguments, _URL_ARGUMENT) if call else frozenset()
        for text in _texts(message):
            yield UrlSource(text[:left], not is_result, composed[message.call_id] if is_result else frozenset())
            left -= len(text)
            if left <= 0:
                return


def _texts(message: Message) -> Iterator[str]:
    match message:
        case SystemMessage(str(text)) | UserMessage(str(text)):
            yield text
        case SystemMessage(parts) | UserMessage(parts):
            yield from (part.text for part in parts if isinstance(part, TextPart))
        case ToolMessage(content=content, untrusted=True):
            try:
                yield from texts_in(orjson.loads(content)) if len(content) <= _MOST_READ else (content,)
            except orjson.JSONDecodeError:
                yield content
        case _:
            pass
