"""The lever of TOOL_LOOP_V2: how it stands, and pulling it."""

import hmac
from typing import Annotated, Literal

import structlog
from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, model_validator

from signalbox.app.asgi.security import token_in
from signalbox.app.deps import Parts, PartsDep
from signalbox.app.openapi_examples import body_of
from signalbox.app.request.body import read_model
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import JsonObject
from signalbox.flags.choice import FLAG_KEY, effective
from signalbox.flags.override import Override

router = APIRouter(prefix="/api/flags", tags=["flags"], route_class=KnownParameters)
_log = structlog.get_logger()
_BODY_LIMIT = 10_000


class LeverIn(BaseModel):
    """How the lever shall stand: V2 off, on, or for a share of the conversations."""

    model_config = ConfigDict(extra="forbid", strict=True)

    state: Literal["off", "on", "percent"]
    percent: Annotated[int, Field(ge=0, le=100)] | None = None

    @model_validator(mode="after")
    def _a_share_needs_its_number(self) -> "LeverIn":
        if (self.state == "percent") != (self.percent is not None):
            raise ValueError("percent is required with state percent and allowed only with it")
        return self


@router.get("/tool_loop_v2", response_model=None)
async def read_lever(parts: PartsDep) -> JsonObject:
    """Tell how the lever stands and what that means for the next run."""
    return _standing(parts)


@router.put("/tool_loop_v2", response_model=None, openapi_extra=body_of(LeverIn, {"back to legacy": {"state": "off"}}))
async def pull_lever(request: Request, parts: PartsDep) -> JsonObject:
    """Pull the lever, with the admin token; the next run follows it, runs under way keep their loop."""
    if not hmac.compare_digest(token_in(request.headers).encode(), parts.admin_token.encode()):
        words = "Changing this flag requires the operator token (SIGNALBOX_ADMIN_TOKEN)."
        raise RequestError(Code.UNAUTHORIZED, words, "Authorization")
    wanted = await read_model(request, LeverIn, _BODY_LIMIT)
    await parts.lever.pull(Override(wanted.state, wanted.percent or 0))
    _log.info("flag.pulled", flag=FLAG_KEY, state=wanted.state, percent=wanted.percent)
    return _standing(parts)


def _standing(parts: Parts) -> JsonObject:
    lever = parts.lever.read()
    environment = parts.settings.tool_loop_v2
    return {
        "key": FLAG_KEY,
        "state": lever.state if lever else None,
        "percent": lever.percent if lever and lever.state == "percent" else None,
        "environment": environment,
        "effective": effective(environment, lever),
        "sticky": "conversation",
    }
