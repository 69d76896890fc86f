"""Rules of calls and their results: each call is directly followed by its one result (quirks C8, D1)."""

from ..http.incoming import Incoming, calls_of
from .provider_errors import provider_error

_RESULT_WITHOUT_CALL = {
    "anthropic": "messages.{at}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each "
    "`tool_result` block must have a corresponding `tool_use` block in the previous message.",
    "google": "Please ensure that function response turn comes immediately after a function call turn.",
    "mistralai": "Unexpected role 'tool' after role '{before}'",
}
_NO_CALL = "messages[{at}]: Messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
_CALL_WITHOUT_RESULT = {
    "anthropic": "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each "
    "`tool_use` block must have a corresponding `tool_result` block in the next message.",
    "google": "Please ensure that the number of function response parts is equal to the number of function call parts "
    "of the function call turn.",
    "mistralai": "Not the same number of function calls and responses",
}
_NO_RESULT = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: {id}"
)


def results_follow_calls(incoming: Incoming) -> None:
    """Each call has exactly one result directly after it, and each result has a call."""
    open_calls: list[str] = []
    called_at = 0
    for at, message in enumerate(incoming.messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                _reject_result(incoming, at)
            open_calls.remove(message["tool_call_id"])
            continue
        _reject_open_calls(incoming, called_at, open_calls)
        open_calls, called_at = [call["id"] for call in calls_of(message)], at
    _reject_open_calls(incoming, called_at, open_calls)


def _reject_result(incoming: Incoming, at: int) -> None:
    before = incoming.messages[at - 1]["role"] if at else "none"
    text = _RESULT_WITHOUT_CALL.get(incoming.family, _NO_CALL)
    call_id = incoming.messages[at]["tool_call_id"]
    raise provider_error(incoming, text.format(at=at, id=call_id, before=before), "3230")


def _reject_open_calls(incoming: Incoming, at: int, open_calls: list[str]) -> None:
    if open_calls:
        text = _CALL_WITHOUT_RESULT.get(incoming.family, _NO_RESULT)
        raise provider_error(incoming, text.format(at=at, id=", ".join(open_calls)), "3230")


def results_in_order(incoming: Incoming) -> None:
    """Gemini matches results with calls by position (quirk C8)."""
    called: list[str] = []
    for message in incoming.messages:
        if message["role"] == "tool":
            if message["tool_call_id"] != called.pop(0):
                text = "Please ensure that function response parts are in the order of the function call parts."
                raise provider_error(incoming, text)
            continue
        called = [call["id"] for call in calls_of(message)]


def calls_need_tools(incoming: Incoming) -> None:
    """A history with calls or results needs tools in the request (quirk C3)."""
    used = any(message["role"] == "tool" or calls_of(message) for message in incoming.messages)
    if used and not incoming.body.get("tools"):
        text = "The toolConfig field must be defined when using toolUse and toolResult content blocks."
        raise provider_error(incoming, text)
