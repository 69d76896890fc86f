"""What is refused: one function per rule; what every host refuses, then what one family's hosts refuse.

A new rule is a function here and a row in `SHAPE_RULES`, `RULES` or `FAMILY_RULES`.
"""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import orjson

from .accents import ACCENTS
from .errors import Refused, host_refused
from .incoming import Incoming, Message, calls_of, text_of
from .shapes import as_list, as_object, as_objects

ROLES = ("system", "developer", "user", "assistant", "tool")
Rule = Callable[[Incoming], None]


def check_body(body: Any) -> dict[str, Any]:
    """Refuse what is not a chat request by its shape."""
    if not isinstance(body, dict):
        raise Refused(400, "Request body must be a JSON object")
    fields = cast(dict[str, Any], body)
    for rule in SHAPE_RULES:
        rule(fields)
    return fields


def check(incoming: Incoming) -> None:
    """Refuse what the hosts of the request's model refuse."""
    for rule in (*RULES, *FAMILY_RULES.get(incoming.family, ())):
        rule(incoming)


# ---- shape: OpenRouter's own 400


def model_is_named(body: dict[str, Any]) -> None:
    """A request names a model, or fallbacks."""
    model = body.get("model", next(iter(as_list(body.get("models"))), None))
    if not isinstance(model, str) or not model:
        raise Refused(400, "No models provided")


def messages_are_messages(body: dict[str, Any]) -> None:
    """The messages are a list of objects with a known role and a content of a known kind."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Refused(400, 'Input required: specify "prompt" or "messages"')
    for at, message in enumerate(cast(list[Any], messages)):
        if not isinstance(message, dict) or cast(Message, message).get("role") not in ROLES:
            raise Refused(400, f"Invalid input: messages[{at}].role")
        said = cast(Message, message)
        if not isinstance(said.get("content"), str | list | None):
            raise Refused(400, f"Invalid input: messages[{at}].content")
        if said["role"] in ("user", "system", "tool") and said.get("content") is None:
            raise Refused(400, f"Invalid input: messages[{at}].content is required")


def tools_are_functions(body: dict[str, Any]) -> None:
    """Every function tool has a name that hosts accept and a schema that is an object (quirk C16)."""
    tools = body.get("tools")
    if tools is None:
        return
    if not isinstance(tools, list):
        raise Refused(400, "Invalid input: tools")
    for at, tool in enumerate(cast(list[Any], tools)):
        if not isinstance(tool, dict) or not isinstance(cast(dict[str, Any], tool).get("type"), str):
            raise Refused(400, f"Invalid input: tools[{at}].type")
        function = cast(dict[str, Any], tool).get("function")
        if cast(dict[str, Any], tool)["type"] == "function" and not _is_function(function):
            raise Refused(400, f"Invalid input: tools[{at}].function")


def _is_function(function: Any) -> bool:
    fields = as_object(function)
    named = re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", str(fields.get("name") or "")) is not None
    return named and isinstance(function, dict) and isinstance(fields.get("parameters", {}), dict)


def calls_are_calls(body: dict[str, Any]) -> None:
    """A call has an id, a name and arguments that are a string; a tool message names its call."""
    for at, message in enumerate(body["messages"]):
        if message["role"] == "tool" and not isinstance(message.get("tool_call_id"), str):
            raise Refused(400, f"Invalid input: messages[{at}].tool_call_id")
        for number, call in enumerate(calls_of(message)):
            function: dict[str, Any] = call.get("function") or {}
            fields = (call.get("id"), function.get("name"), function.get("arguments"))
            if not all(isinstance(field, str) for field in fields) or not fields[1]:
                raise Refused(400, f"Invalid input: messages[{at}].tool_calls[{number}]")


# ---- what every host refuses


def choice_needs_tools(incoming: Incoming) -> None:
    """tool_choice and parallel_tool_calls mean nothing without tools (quirk C3)."""
    if incoming.body.get("tools"):
        return
    for name in ("tool_choice", "parallel_tool_calls"):
        if name in incoming.body:
            raise _host(incoming, f"'{name}' is only allowed when 'tools' are specified.")


def one_reasoning_budget(incoming: Incoming) -> None:
    """An effort and max_tokens exclude each other (quirk B9)."""
    wanted = as_object(incoming.body.get("reasoning"))
    if wanted.get("effort") and wanted.get("max_tokens"):
        raise Refused(400, 'Only one of "reasoning.effort" and "reasoning.max_tokens" can be specified')


def results_follow_calls(incoming: Incoming) -> None:
    """Each call has exactly one result, right after it; each result has its call."""
    open_calls: list[str] = []
    for at, message in enumerate(incoming.messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                said = "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
                raise _host(incoming, f"messages[{at}]: {said}")
            open_calls.remove(message["tool_call_id"])
            continue
        _nothing_open(incoming, open_calls)
        open_calls = [call["id"] for call in calls_of(message)]
    _nothing_open(incoming, open_calls)


def _nothing_open(incoming: Incoming, open_calls: list[str]) -> None:
    if open_calls:
        said = "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
        raise _host(incoming, f"{said} 'tool_call_id'. These had no response: {', '.join(open_calls)}")


def arguments_are_objects(incoming: Incoming) -> None:
    """What was called is sent back as the JSON text of an object (quirk A8)."""
    for at, message in enumerate(incoming.messages):
        for call in calls_of(message):
            try:
                sound = isinstance(orjson.loads(call["function"]["arguments"]), dict)
            except orjson.JSONDecodeError:
                sound = False
            if not sound:
                raise _host(incoming, f"messages[{at}]: the arguments of {call['id']} are not a JSON object")


# ---- what one family refuses


def ids_match(pattern: str, said: str, code: str = "") -> Rule:
    """Call ids have a form (quirk A16)."""

    def rule(incoming: Incoming) -> None:
        for message in incoming.messages:
            for call in calls_of(message):
                if not re.fullmatch(pattern, call["id"]):
                    raise _host(incoming, said.format(id=call["id"]), code)

    return rule


def ids_are_unique(incoming: Incoming) -> None:
    """Call ids are used once in a conversation (quirk A15)."""
    ids = Counter(call["id"] for message in incoming.messages for call in calls_of(message))
    if any(count > 1 for count in ids.values()):
        raise _host(incoming, "messages: `tool_use` ids must be unique")


def no_user_after_tool(incoming: Incoming) -> None:
    """Mistral's roles: after tool results comes the assistant (quirk C7)."""
    for before, message in zip(incoming.messages, incoming.messages[1:], strict=False):
        if before["role"] == "tool" and message["role"] == "user":
            raise _host(incoming, "Unexpected role 'user' after role 'tool'", "3230")


def no_json_beside_tools(incoming: Incoming) -> None:
    """A response_format or tools are taken by xAI, not both (the plan's guardrail, seed row PS-12)."""
    if incoming.tools and incoming.body.get("response_format"):
        raise _host(incoming, "response_format is not supported together with tools for this model.")


def no_prefill(incoming: Incoming) -> None:
    """Claude 4.6 and later refuse a conversation that ends with the assistant's words (quirk C6)."""
    if incoming.messages[-1]["role"] == "assistant":
        raise _host(incoming, "This model does not support assistant message prefill. It must end with a user message.")


def no_forced_call_while_thinking(incoming: Incoming) -> None:
    """Claude thinks, or is forced to call, not both (quirk B6)."""
    if incoming.tools and incoming.reasoning == "visible" and incoming.tool_choice not in ("auto", "none"):
        raise _host(incoming, "Thinking may not be enabled when tool_choice forces tool use.")


def user_says_something(incoming: Incoming) -> None:
    """Anthropic refuses user messages without text or picture (quirk C4)."""
    for at, message in enumerate(incoming.messages):
        parts = message.get("content")
        if message["role"] == "user" and not text_of(message).strip() and not (isinstance(parts, list) and parts):
            raise _host(incoming, f"messages.{at}: user messages must have non-empty content")


def details_come_back(missing: str, altered: str) -> Rule:
    """Sealed reasoning of the open tool loop comes back as it was sent: whole, unaltered, in order (quirks B1-B4)."""

    def rule(incoming: Incoming) -> None:
        accent = ACCENTS[incoming.family]
        provider = accent.provider(incoming.provider_order)
        for at, message in incoming.loop():
            ids = [call["id"] for call in calls_of(message)]
            if not ids:
                continue
            details = as_objects(message.get("reasoning_details"))
            expected = accent.make_details(_reasoning_in(details), ids, provider)
            if details and details != expected:
                raise _host(incoming, altered.format(at=at))
            if not details and _sent_details(incoming):
                raise _host(incoming, missing.format(at=at))

    return rule


def _reasoning_in(details: list[dict[str, Any]]) -> str:
    return "".join(str(detail.get("text") or detail.get("summary") or "") for detail in details)


def _sent_details(incoming: Incoming) -> bool:
    """Tell whether the answers of this loop carried details; Gemini's always do."""
    if incoming.family == "google":
        return True
    if incoming.reasoning == "unset":
        return ACCENTS[incoming.family].reasons_unasked
    return incoming.reasoning == "visible"


def reasoning_comes_back(incoming: Incoming) -> None:
    """DeepSeek wants the reasoning of the open tool loop back (quirk B5)."""
    if not _sent_details(incoming):
        return
    for at, message in incoming.loop():
        details = as_objects(message.get("reasoning_details"))
        if calls_of(message) and not (_reasoning_in(details) or message.get("reasoning")):
            raise _host(incoming, f"Missing `reasoning_content` field in the assistant message at index {at}.")


def _host(incoming: Incoming, message: str, code: str = "") -> Refused:
    """Say it in the words and the shape of the family's host."""
    provider = ACCENTS[incoming.family].provider(incoming.provider_order)
    match incoming.family:
        case "anthropic":
            raw: dict[str, Any] = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
        case "google":
            raw = {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
        case "mistralai":
            kind = "invalid_request_message_order" if code == "3230" else "invalid_request_error"
            raw = {"object": "error", "message": message, "type": kind, "param": None, "code": code or None}
        case _:
            fields = {"message": message, "type": "invalid_request_error", "param": None, "code": code or None}
            raw = {"error": fields}
    return host_refused(provider, raw)


SHAPE_RULES: tuple[Callable[[dict[str, Any]], None], ...] = (
    model_is_named,
    messages_are_messages,
    tools_are_functions,
    calls_are_calls,
)
RULES: tuple[Rule, ...] = (choice_needs_tools, one_reasoning_budget, results_follow_calls, arguments_are_objects)
_SEALED = "The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed."
_NO_REASONING = "messages[{at}]: 'function_call' was provided without its required 'reasoning' item."
FAMILY_RULES: dict[str, tuple[Rule, ...]] = {
    "openai": (
        ids_match(r".{1,40}", "Invalid 'tool_calls.id': '{id}' is too long, the maximum length is 40."),
        details_come_back(_NO_REASONING, _SEALED),
    ),
    "x-ai": (no_json_beside_tools, details_come_back(_NO_REASONING, _SEALED)),
    "anthropic": (
        ids_match(r"[a-zA-Z0-9_-]+", "messages: tool_use.id '{id}' should match pattern '^[a-zA-Z0-9_-]+$'"),
        ids_are_unique,
        no_prefill,
        no_forced_call_while_thinking,
        user_says_something,
        details_come_back(
            "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
            "messages.{at}.content.0: Invalid `signature` in `thinking` block",
        ),
    ),
    "google": (
        details_come_back(
            "Gemini models require OpenRouter reasoning details to be preserved in each request. "
            "messages[{at}] has function calls without a thought_signature.",
            "Corrupted thought signature.",
        ),
    ),
    "mistralai": (
        ids_match(
            r"[A-Za-z0-9]{9}",
            "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.",
            "3280",
        ),
        no_user_after_tool,
    ),
    "deepseek": (reasoning_comes_back,),
}
