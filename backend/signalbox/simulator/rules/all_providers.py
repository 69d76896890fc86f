"""Rules of all providers."""

import orjson

from ..http.incoming import Incoming, calls_of
from ..json_values import as_objects
from .pairing import results_follow_calls
from .provider_errors import Rule, provider_error


def choice_needs_tools(incoming: Incoming) -> None:
    """`tool_choice` and `parallel_tool_calls` need tools (quirk C3)."""
    if incoming.body.get("tools"):
        return
    if incoming.family == "x-ai" and "tool_choice" in incoming.body:
        text = "Invalid request content: A tool_choice was set on the request but no tools were specified."
        raise provider_error(incoming, text)
    for name in ("tool_choice", "parallel_tool_calls"):
        if name in incoming.body:
            raise provider_error(incoming, f"'{name}' is only allowed when 'tools' are specified.")


def arguments_are_objects(incoming: Incoming) -> None:
    """Arguments of calls are JSON objects (quirk A8)."""
    for at, message in enumerate(incoming.messages):
        for call in calls_of(message):
            try:
                valid = isinstance(orjson.loads(call["function"]["arguments"]), dict)
            except orjson.JSONDecodeError:
                valid = False
            if not valid:
                raise provider_error(incoming, f"messages[{at}]: the arguments of {call['id']} are not a JSON object")


def assistant_has_content_or_calls(incoming: Incoming) -> None:
    """An assistant message has content or calls (quirks B14, C4)."""
    for at, message in enumerate(incoming.messages):
        if message["role"] == "assistant" and not calls_of(message) and message.get("content") in (None, []):
            if incoming.family == "mistralai":
                text = "Assistant message must have either content or tool_calls, but not none."
                raise provider_error(incoming, text, "3240")
            raise provider_error(
                incoming, f"Invalid assistant message at index {at}: content or tool_calls must be set"
            )


def results_are_strings(incoming: Incoming) -> None:
    """A tool result is a string, not a list and not an image (quirk C14)."""
    for at, message in enumerate(incoming.messages):
        if message["role"] != "tool" or isinstance(message["content"], str):
            continue
        if any(part.get("type") == "image_url" for part in as_objects(message["content"])):
            text = "Image URLs are only allowed for messages with role 'user', but this message with role 'tool'"
            raise provider_error(incoming, f"Invalid 'messages[{at}]'. {text} contains an image URL.")
        text = "expected a string, but got an array instead."
        raise provider_error(incoming, f"Invalid type for 'messages[{at}].content': {text}")


RULES: tuple[Rule, ...] = (
    choice_needs_tools,
    results_follow_calls,
    arguments_are_objects,
    assistant_has_content_or_calls,
    results_are_strings,
)
