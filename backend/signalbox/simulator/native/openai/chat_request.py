"""Checks a request as OpenAI's chat completions do; unlike OpenRouter's, they reject everything that is not theirs."""

from collections.abc import Callable
from typing import Any

import orjson
from starlette.requests import Request

from ...completion import estimate_tokens
from ...http.errors import Rejected
from ...http.incoming import Incoming, parse_request
from ...json_values import as_object, as_objects
from ...rules.all_providers import RULES
from ...rules.body_shape import check_body
from ...rules.call_ids import ids_match
from ...rules.tool_options import strict_schemas_are_closed
from ..endpoint import Asked
from ..errors import NativeError
from .errors import error_of, invalid, missing, unknown_parameter, unsupported, wrong_value
from .models import Abilities, abilities_of, check_credit, check_key, context_of, is_served, simulated_id
from .request import LONGEST_ANSWER, object_of

_FIELDS = (
    "messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens "
    "max_tokens metadata modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key "
    "prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream "
    "stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options"
)
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_MESSAGE_FIELDS = "role content name refusal annotations audio tool_calls function_call tool_call_id"
_SAMPLING = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
_DEFAULTS = {"temperature": 1, "top_p": 1, "presence_penalty": 0, "frequency_penalty": 0}
_RULES: tuple[Callable[[Incoming], None], ...] = (
    *RULES,
    ids_match(r".{1,40}", "Invalid 'tool_calls.id': '{id}' is too long, the maximum length is 40."),
    strict_schemas_are_closed,
)


def accept(request: Request, body: Any) -> Asked:
    """Return the request if the API accepts it; raises NativeError."""
    check_key(request)
    checked = object_of(body)
    model = _model_of(checked)
    for name in checked:
        if name not in _FIELDS.split():
            raise invalid(f"Unrecognized request argument supplied: {name}")
    _check_messages(checked)
    abilities = abilities_of(model)
    _check_parameters(checked, abilities, is_simulated=model.startswith("sim"))
    incoming = _incoming(checked, model, abilities)
    if estimate_tokens(orjson.dumps([checked["messages"], checked.get("tools")]).decode()) > context_of(model):
        text = f"This model's maximum context length is {context_of(model)} tokens. Please reduce the length."
        raise invalid(text, "messages", "context_length_exceeded")
    check_credit(model, incoming.max_tokens or LONGEST_ANSWER)
    return Asked(checked, incoming)


def _model_of(body: dict[str, Any]) -> str:
    model = body.get("model")
    if not isinstance(model, str):
        raise invalid("you must provide a model parameter")
    if not is_served(model):
        text = f"The model `{model}` does not exist or you do not have access to it."
        raise error_of(404, text, code="model_not_found")
    return model


def _check_messages(body: dict[str, Any]) -> None:
    if "messages" not in body:
        raise missing("messages")
    for at, message in enumerate(as_objects(body["messages"])):
        if message.get("role") not in _ROLES:
            raise wrong_value(f"messages[{at}].role", message.get("role"), *_ROLES)
        for name in message:
            if name not in _MESSAGE_FIELDS.split():
                raise unknown_parameter(f"messages[{at}].{name}")


def _check_parameters(body: dict[str, Any], abilities: Abilities, *, is_simulated: bool) -> None:
    """Reject what a reasoning model, or a model without reasoning, does not support (quirks C5, C13)."""
    if body.get("reasoning_effort") is not None and not abilities.reasons:
        raise invalid("Unrecognized request argument supplied: reasoning_effort")
    if body.get("max_tokens") is not None and abilities.reasons and not is_simulated:
        text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
        raise invalid(f"{text}instead.", "max_tokens", "unsupported_parameter")
    if abilities.may_set_sampling and not (abilities.needs_no_reasoning_for_sampling and _reasons(body, abilities)):
        return
    if body.get("stop") is not None:
        raise unsupported("stop")
    for name in _SAMPLING:
        value: object = body.get(name)
        if value not in (None, _DEFAULTS[name]):
            text = f"Unsupported value: '{name}' does not support {value} with this model. Only the default "
            raise invalid(f"{text}({_DEFAULTS[name]}) value is supported.", name, "unsupported_value")


def _reasons(body: dict[str, Any], abilities: Abilities) -> bool:
    effort = body.get("reasoning_effort")
    return abilities.reasons and (abilities.reasons_by_default if effort is None else effort != "none")


def _incoming(body: dict[str, Any], model: str, abilities: Abilities) -> Incoming:
    """Translate and check the request with the rules of all providers, whose errors quote OpenAI's own body."""
    neutral = {**body, "model": simulated_id(model), "reasoning": {"enabled": _reasons(body, abilities)}}
    try:
        incoming = parse_request(check_body(neutral))
        for rule in _RULES:
            rule(incoming)
    except Rejected as rejected:
        raise _own_error(rejected) from rejected
    return incoming


def _own_error(rejected: Rejected) -> NativeError:
    quoted = rejected.metadata.get("raw")
    error = as_object(as_object(orjson.loads(quoted)).get("error")) if isinstance(quoted, str) else {}
    return invalid(error.get("message", rejected.message), code=error.get("code"))
