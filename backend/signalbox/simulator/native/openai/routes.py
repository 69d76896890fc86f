"""The routes of OpenAI's API, below /v1."""

from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..endpoint import NativeApi, answer
from .chat_request import accept as accept_chat
from .chat_write import write as write_chat
from .errors import scripted_error
from .models import check_key, entry_of, listing
from .request import accept
from .write import write

RESPONSES = NativeApi(accept=accept, write=write, scripted_error=scripted_error)
CHAT = NativeApi(accept=accept_chat, write=write_chat, scripted_error=scripted_error)


async def responses(request: Request) -> Response:
    """Answer POST /responses."""
    return await answer(request, RESPONSES)


async def chat(request: Request) -> Response:
    """Answer POST /chat/completions."""
    return await answer(request, CHAT)


async def models(request: Request) -> Response:
    """Answer GET /models."""
    check_key(request)
    return _json(listing(with_faults=request.app.state.list_faults))


async def model(request: Request) -> Response:
    """Answer GET /models/{id}."""
    check_key(request)
    return _json(entry_of(request.path_params["model"]))


def _json(body: dict[str, Any]) -> Response:
    return Response(orjson.dumps(body), media_type="application/json")


ROUTES = (
    Route("/responses", responses, methods=["POST"]),
    Route("/chat/completions", chat, methods=["POST"]),
    Route("/models", models),
    Route("/models/{model:path}", model),
)
