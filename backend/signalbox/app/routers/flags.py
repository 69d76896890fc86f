"""/api/flags/tool_loop_v2: the feature flag that selects the loop, and its override."""

import structlog
from fastapi import APIRouter, Request

from signalbox.app.access import CallerDep
from signalbox.app.audit.entries import actor_of
from signalbox.app.deps import Services, ServicesDep
from signalbox.app.openapi.document import BODY_ERRORS, api_errors, json_body, json_response
from signalbox.app.openapi.request_bodies import FlagOverride
from signalbox.app.openapi.response_types import FeatureFlag
from signalbox.app.request.body import read_model
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.flags.choice import FLAG_KEY, describe_choice
from signalbox.flags.override import Override

router = APIRouter(prefix="/api/flags", tags=["flags"], route_class=KnownParameters)
_log = structlog.get_logger()
_BODY_LIMIT = 10_000


@router.get("/tool_loop_v2", response_model=None, responses={200: json_response(FeatureFlag), **api_errors()})
async def get_flag(services: ServicesDep) -> FeatureFlag:
    """Return which loop the next runs use, and why."""
    return _flag(services)


@router.put(
    "/tool_loop_v2",
    response_model=None,
    responses={200: json_response(FeatureFlag), **api_errors(*BODY_ERRORS)},
    openapi_extra=json_body(FlagOverride),
)
async def set_flag(request: Request, services: ServicesDep, caller: CallerDep) -> FeatureFlag:
    """Set the override of the feature flag; needs the operator token.

    It applies from the next run. Active runs keep their loop. A running rollout ends.
    """
    if not caller.is_operator:
        words = "Changing this flag requires the operator token (SIGNALBOX_ADMIN_TOKEN)."
        raise RequestError(Code.UNAUTHORIZED, words, "Authorization")
    wanted = await read_model(request, FlagOverride, _BODY_LIMIT)
    override = None if wanted.state == "default" else Override(wanted.state, wanted.percent or 0)
    await services.rollout.set_override(override, actor_of(caller))
    _log.info("flag.override_set", flag=FLAG_KEY, state=wanted.state, percent=wanted.percent)
    return _flag(services)


def _flag(services: Services) -> FeatureFlag:
    override = services.flag_override.current()
    environment = services.settings.tool_loop_v2
    return {
        "key": FLAG_KEY,
        "state": override.state if override else None,
        "percent": override.percent if override and override.state == "percent" else None,
        "environment": environment,
        "effective": describe_choice(environment, override, is_provided=services.flag_provider is not None),
        "sticky": "conversation",
    }
