"""The routes of Gemini's API."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..endpoint import NativeApi, answer, json_of
from .errors import scripted_error
from .json_text import pretty
from .models import get, listed
from .request import accept_request, token_count, version_of
from .write import write

API = NativeApi(accept=accept_request, write=write, scripted_error=scripted_error)


async def generate(request: Request) -> Response:
    """Answer POST /{version}/models/{model} with `:generateContent`, `:streamGenerateContent` or `:countTokens`."""
    if request.path_params["method"] == "countTokens":
        return _json(token_count(request, await json_of(request)))
    return await answer(request, API)


async def models(request: Request) -> Response:
    """Answer GET /{version}/models."""
    version_of(request)
    return _json(listed(request.query_params, with_faults=request.app.state.list_faults))


async def model(request: Request) -> Response:
    """Answer GET /{version}/models/{model}."""
    return _json(get(request.path_params["model"], version=version_of(request)))


def _json(body: dict[str, Any]) -> Response:
    return Response(pretty(body), media_type="application/json; charset=UTF-8")


ROUTES = (
    Route("/{version}/models/{model}:{method}", generate, methods=["POST"]),
    Route("/{version}/models", models),
    Route("/{version}/models/{model}", model),
)
