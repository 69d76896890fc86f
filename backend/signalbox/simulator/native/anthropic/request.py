"""Checks a request as the Messages API does, and translates it for the simulated model."""

from typing import Any, cast

from starlette.requests import Request

from ...http.incoming import parse_request
from ...rules.openrouter import affordable_tokens
from ..endpoint import Asked
from .blocks import check_content
from .errors import error_of, invalid
from .fields import FIELDS, check_tools
from .history import check_history
from .models import LONGEST_ANSWER, check_model, context_of
from .options import check_options
from .translate import neutral_body
from .usage import breakpoints, prompt_tokens

MAX_BREAKPOINTS = 4


def check_headers(request: Request) -> None:
    """Reject a request without a key or without a version of the API."""
    if not (request.headers.get("x-api-key") or request.headers.get("authorization")):
        raise error_of(401, "x-api-key header is required")
    if "anthropic-version" not in request.headers:
        raise invalid("anthropic-version: header is required")


def accept_request(request: Request, body: Any) -> Asked:
    """Return the request if the API accepts it; raises NativeError."""
    check_headers(request)
    if body is None:
        raise invalid("The request body is not valid JSON: expected value at line 1 column 1")
    if not isinstance(body, dict):
        raise invalid("Input should be a valid dictionary or object to extract fields from")
    checked = cast(dict[str, Any], body)
    model = check_model(checked.get("model"))
    _check_fields(checked, model)
    _check_messages(checked["messages"])
    check_tools(checked.get("tools"))
    check_history(checked, model)
    check_options(checked, model)
    _check_size(checked, model)
    return Asked(checked, parse_request(neutral_body(checked, model)))


def _check_fields(body: dict[str, Any], model: str) -> None:
    if "thread" in body:
        details = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
        raise error_of(400, "thread: Threads are not supported for this request.", details=details)
    for name in ("max_tokens", "messages"):
        if name not in body:
            raise invalid(f"{name}: Field required")
    unknown = sorted(set(body) - FIELDS)
    if unknown:
        raise invalid(f"{unknown[0]}: Extra inputs are not permitted")
    limit = body["max_tokens"]
    if not isinstance(limit, int) or isinstance(limit, bool):
        raise invalid("max_tokens: Input should be a valid integer")
    if limit < 1:
        raise invalid("max_tokens: Input should be greater than or equal to 1")
    if limit > LONGEST_ANSWER:
        allowed = f"which is the maximum allowed number of output tokens for {model}"
        raise invalid(f"max_tokens: {limit} > {LONGEST_ANSWER}, {allowed}")


def _check_messages(messages: object) -> None:
    if not isinstance(messages, list):
        raise invalid("messages: Input should be a valid array")
    if not messages:
        raise invalid("messages: at least one message is required")
    for at, message in enumerate(cast(list[Any], messages)):
        if not isinstance(message, dict):
            raise invalid(f"messages.{at}: Input should be an object")
        _check_message(cast(dict[str, Any], message), at, is_last=at == len(cast(list[Any], messages)) - 1)


def _check_message(message: dict[str, Any], at: int, *, is_last: bool) -> None:
    role = message.get("role")
    if role == "system":
        text = 'The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'
        raise invalid(f'messages: Unexpected role "system". {text}')
    if role not in ("user", "assistant"):
        raise invalid(f"messages.{at}.role: Input should be 'user' or 'assistant'")
    if "content" not in message:
        raise invalid(f"messages.{at}.content: Field required")
    unknown = sorted(set(message) - {"role", "content"})
    if unknown:
        raise invalid(f"messages.{at}.{unknown[0]}: Extra inputs are not permitted")
    check_content(message["content"], at, role, is_last=is_last)


def _check_size(body: dict[str, Any], model: str) -> None:
    marked = breakpoints(body)
    if marked > MAX_BREAKPOINTS:
        raise invalid(f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. Found {marked}.")
    window, tokens = context_of(model), prompt_tokens(body)
    if tokens > window:
        raise invalid(f"prompt is too long: {tokens} tokens > {window} maximum")
    affords = affordable_tokens(model)
    if affords is not None and body["max_tokens"] > affords:
        text = "Your credit balance is too low to access the Anthropic API. "
        raise invalid(f"{text}Please go to Plans & Billing to upgrade or purchase credits.")
