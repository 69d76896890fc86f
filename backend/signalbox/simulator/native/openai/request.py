"""Checks a request as the Responses API does, and translates it for the simulated model."""

from typing import Any, cast

import orjson
from starlette.requests import Request

from ...completion import estimate_tokens
from ...http.incoming import parse_request
from ..endpoint import Asked
from .errors import invalid, missing, wrong_type
from .history import check_history
from .items import check_input, input_items
from .models import abilities_of, check_credit, check_key, context_of, is_served
from .options import check_options
from .translate import neutral_body

LONGEST_ANSWER = 128_000


def accept(request: Request, body: Any) -> Asked:
    """Return the request if the API accepts it; raises NativeError."""
    check_key(request)
    checked = object_of(body)
    model = _model_of(checked)
    check_input(checked)
    check_options(checked, abilities_of(model))
    check_history(input_items(checked), model, stored=checked.get("store") is not False)
    _check_size(checked, model)
    return Asked(checked, parse_request(neutral_body(checked, model)))


def object_of(body: Any) -> dict[str, Any]:
    """Return the JSON of a request if it is an object."""
    if not isinstance(body, dict):
        text = "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP "
        raise invalid(f"{text}library correctly. The OpenAI API expects a JSON payload, but what was sent was not.)")
    return cast(dict[str, Any], body)


def _model_of(body: dict[str, Any]) -> str:
    model = body.get("model")
    if model is None:
        raise missing("model")
    if not isinstance(model, str):
        raise wrong_type("model", "a string", model)
    if not is_served(model):
        raise invalid(f"The requested model '{model}' does not exist.", "model", "model_not_found")
    return model


def _check_size(body: dict[str, Any], model: str) -> None:
    read_by_model = [body["input"], body.get("instructions"), body.get("tools")]
    if estimate_tokens(orjson.dumps(read_by_model).decode()) > context_of(model):
        text = "Your input exceeds the context window of this model. Please adjust your input and try again."
        raise invalid(text, "input", "context_length_exceeded")
    check_credit(model, body.get("max_output_tokens") or LONGEST_ANSWER)
