"""The routes of the Messages API."""

from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...json_values import as_object
from ..endpoint import NativeApi, answer, json_of
from .errors import scripted_error
from .models import LONGEST_ANSWER, entry_of, page
from .request import accept_request, check_headers
from .usage import prompt_tokens
from .write import write

API = NativeApi(accept=accept_request, write=write, scripted_error=scripted_error)


async def messages(request: Request) -> Response:
    """Answer POST /v1/messages."""
    return await answer(request, API)


async def count_tokens(request: Request) -> Response:
    """Answer POST /v1/messages/count_tokens, which needs no max_tokens."""
    body = await json_of(request)
    asked = accept_request(request, {"max_tokens": LONGEST_ANSWER, **as_object(body)})
    return _json({"input_tokens": prompt_tokens(asked.body)})


async def models(request: Request) -> Response:
    """Answer GET /v1/models."""
    check_headers(request)
    return _json(page(request.query_params, with_faults=request.app.state.list_faults))


async def model(request: Request) -> Response:
    """Answer GET /v1/models/{id}."""
    check_headers(request)
    return _json(entry_of(request.path_params["model"]))


def _json(body: dict[str, Any]) -> Response:
    return Response(orjson.dumps(body), media_type="application/json")


ROUTES = (
    Route("/v1/messages", messages, methods=["POST"]),
    Route("/v1/messages/count_tokens", count_tokens, methods=["POST"]),
    Route("/v1/models", models),
    Route("/v1/models/{model}", model),
)
