"""/health: whether the process is alive, and whether runs can start."""

import asyncio
import os
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal

from fastapi import APIRouter, Response

from signalbox import __version__
from signalbox.app.deps import Services, ServicesDep
from signalbox.app.openapi.document import errors, json_response
from signalbox.app.openapi.response_types import Liveness, Readiness, ReadinessChecks
from signalbox.core.codes import Code
from signalbox.core.events import LoopName
from signalbox.flags.choice import choose_loop

router = APIRouter(prefix="/health", tags=["health"])


@router.head("/live", response_model=None, include_in_schema=False)
@router.get("/live", response_model=None, responses={200: json_response(Liveness), **errors(Code.HOST_NOT_ALLOWED)})
async def get_liveness() -> Liveness:
    """Answer while the process is alive, with its id."""
    return {"status": "live", "version": __version__, "pid": os.getpid()}


@router.head("/ready", response_model=None, include_in_schema=False)
@router.get(
    "/ready",
    response_model=None,
    responses={
        200: json_response(Readiness, "Runs can start."),
        503: json_response(Readiness, "A check failed."),
        **errors(Code.HOST_NOT_ALLOWED, Code.INTERNAL),
    },
)
async def get_readiness(services: ServicesDep, response: Response) -> Readiness:
    """Check whether runs can start: data folder, database, upstream settings, no shutdown under way."""
    checks: ReadinessChecks = {
        "data_folder": await asyncio.to_thread(_is_writable, services.settings.signalbox_data_dir),
        "database": services.runs.store.is_healthy and services.database.is_healthy,
        "upstream": services.is_simulated or bool(services.settings.openrouter_base_url),
        "accepting": not (services.runs.is_draining or services.runs.is_closing),
    }
    is_ready = all(checks.values())
    response.status_code = 200 if is_ready else 503
    return {
        "status": "ready" if is_ready else "not ready",
        "checks": checks,
        "simulated": services.is_simulated,
        "loop": _loop(services),
    }


def _loop(services: Services) -> LoopName | Literal["percent"]:
    """Return the loop of the next run, or "percent" if it depends on the conversation."""
    override = services.flag_override.current()
    if services.settings.tool_loop_v2 is not False:
        is_provided = override is None and services.flag_provider is not None
        if is_provided or (override is not None and override.state == "percent"):
            return "percent"
    return choose_loop(services.settings.tool_loop_v2, override, key="").loop


def _is_writable(folder: Path) -> bool:
    try:
        with TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
