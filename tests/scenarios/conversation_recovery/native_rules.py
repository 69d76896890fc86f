"""The rules of each dialect's API, as the simulator checks them, for a request that was never sent."""

from dataclasses import dataclass
from typing import Any, cast

import orjson
from signalbox.core.messages import JsonValue
from signalbox.simulator.http.errors import Rejected
from signalbox.simulator.http.incoming import parse_request
from signalbox.simulator.native.anthropic.request import accept_request
from signalbox.simulator.native.errors import NativeError
from signalbox.simulator.native.gemini.request import parse
from signalbox.simulator.native.openai import chat_request
from signalbox.simulator.native.openai.request import accept
from signalbox.simulator.rules import check, check_body
from signalbox.simulator.rules.all_providers import RULES
from signalbox.simulator.rules.by_family import FAMILY_RULES
from starlette.requests import Request

_HEADERS = ((b"x-api-key", b"k"), (b"anthropic-version", b"2023-06-01"), (b"authorization", b"Bearer k"))
# OpenRouter's rules about `reasoning_details`, which other servers of chat completions do not have.
_ABOUT_DETAILS = ("details_are_sent_back", "open_turn_has_thinking")


@dataclass(frozen=True)
class Rejection:
    """The response to a request that an API rejects."""

    status: int
    body: bytes


def rejection_of(dialect: str, model: str, body: Any) -> Rejection | None:
    """Return how an API rejects a request, None if it accepts it."""
    try:
        _check(dialect, model, body)
    except Rejected as rejected:
        return Rejection(rejected.status, orjson.dumps(rejected.body()))
    except NativeError as rejected:
        return Rejection(rejected.status, orjson.dumps(rejected.body))
    return None


def _check(dialect: str, model: str, body: Any) -> None:
    request = Request({"type": "http", "headers": _HEADERS})
    match dialect:
        case "anthropic-messages":
            accept_request(request, body)
        case "gemini":
            parse(model, body, stream=True, version="v1beta")
        case "openai-responses":
            accept(request, body)
        case "openai-chat" if "/" not in model:
            chat_request.accept(request, body)
        case "openai-chat":
            _check_compatible(body)
        case _:
            check(parse_request(check_body(body)))


def _check_compatible(body: Any) -> None:
    """Check a request to a server of another family that speaks OpenAI's chat completions."""
    incoming = parse_request(check_body(body))
    for rule in (*RULES, *FAMILY_RULES[incoming.family]):
        if not rule.__qualname__.startswith(_ABOUT_DETAILS):
            rule(incoming)


def calls_and_results(body: Any) -> tuple[int, int]:
    """Return how many calls and results a request has, in any dialect."""
    calls = results = 0
    left: list[object] = [body.get("messages") or body.get("contents") or body.get("input")]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            fields = cast(dict[str, Any], value)
            calls += fields.get("type") in ("tool_use", "function_call", "function") or "functionCall" in fields
            results += fields.get("type") in ("tool_result", "function_call_output")
            results += fields.get("role") == "tool" or "functionResponse" in fields
            left += fields.values()
        elif isinstance(value, list):
            left += cast(list[object], value)
    return calls, results


def contains(body: JsonValue, text: str) -> bool:
    """Return whether a body contains a text, as JSON writes it."""
    return orjson.dumps(text)[1:-1] in orjson.dumps(body)
