"""GET /v1/models: the upstream's catalogue in the format of OpenAI and OpenRouter."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.convertors import PathConvertor, register_url_convertor

from signalbox.app.access import CallerDep
from signalbox.app.deps import ServicesDep
from signalbox.app.model_list import model_not_allowed
from signalbox.app.openapi.chat_completions import openai_errors
from signalbox.app.openapi.document import json_response
from signalbox.app.openapi.openai_models import OpenAiModel, OpenAiModelList
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.app.routers.models import packed_response


class _ModelId(PathConvertor):
    """An id, which may contain slashes. It does not end with one, so that such a path is redirected like any other."""

    regex = ".*[^/]"


register_url_convertor("model_id", _ModelId())
router = APIRouter(tags=["models"], route_class=KnownParameters)


@router.get("/api/v1/models", include_in_schema=False)
@router.get(
    "/v1/models",
    response_model=None,
    responses={
        200: json_response(OpenAiModelList),
        304: {"description": "The list is the one that If-None-Match names."},
        **openai_errors(400, 401, 403, 500, 503),
    },
)
async def list_openai_models(
    request: Request,
    services: ServicesDep,
    caller: CallerDep,
    *,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int | None, Query(ge=1)] = None,
    if_none_match: Annotated[str, Header()] = "",
) -> Response:
    """List the models that the caller may use, in OpenAI's format, with OpenRouter's fields.

    OpenRouter's client asks for pages. Without `offset` and `limit`, all models are one page.
    """
    if offset or limit is not None:
        return Response(
            await services.openai_models.page(caller.model_patterns, offset, limit), media_type="application/json"
        )
    return packed_response(await services.openai_models.packed(caller.model_patterns), request, if_none_match)


@router.get("/api/v1/models/{model_id:model_id}", include_in_schema=False)
@router.get(
    "/v1/models/{model_id:model_id}",
    response_model=None,
    responses={200: json_response(OpenAiModel), **openai_errors(400, 401, 403, 404, 500, 503)},
)
async def get_openai_model(model_id: str, services: ServicesDep, caller: CallerDep) -> Response:
    """Return one model; the id may contain slashes, and may be that of a variant (`:free`) or of a hidden model."""
    if not caller.may_use_model(model_id):
        raise model_not_allowed(model_id, "model")
    return Response(await services.openai_models.body_of(model_id), media_type="application/json")
