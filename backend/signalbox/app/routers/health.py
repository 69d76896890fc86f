"""Whether this process lives, and whether it can take runs."""

import asyncio
import os
from pathlib import Path
from tempfile import TemporaryFile

from fastapi import APIRouter, Response

from signalbox import __version__
from signalbox.app.deps import Parts, PartsDep
from signalbox.core.messages import JsonObject
from signalbox.flags.choice import choose_loop

router = APIRouter(prefix="/health", tags=["health"])


@router.head("/live", response_model=None, include_in_schema=False)
@router.get("/live", response_model=None)
async def live() -> JsonObject:
    """Answer while the process can, and say which one it is."""
    return {"status": "live", "version": __version__, "pid": os.getpid()}


@router.head("/ready", response_model=None, include_in_schema=False)
@router.get("/ready", response_model=None)
async def ready(parts: PartsDep, response: Response) -> JsonObject:
    """Tell whether runs can start: folder and database take what is written, an upstream is set up, no stop asked."""
    checks = {
        "data_folder": await asyncio.to_thread(_is_writable, parts.settings.signalbox_data_dir),
        "database": parts.runs.store.is_healthy and parts.database.is_healthy,
        "upstream": parts.is_simulated or bool(parts.settings.openrouter_base_url),
        "accepting": not (parts.runs.is_draining or parts.runs.is_closing),
    }
    is_ready = all(checks.values())
    response.status_code = 200 if is_ready else 503
    status = "ready" if is_ready else "not ready"
    return {"status": status, "checks": {**checks}, "simulated": parts.is_simulated, "loop": _loop(parts)}


def _loop(parts: Parts) -> str:
    """Say which loop the next run gets, or that it depends on the conversation."""
    lever = parts.lever.read()
    if lever is not None and lever.state == "percent" and parts.settings.tool_loop_v2 is not False:
        return "percent"
    return choose_loop(parts.settings.tool_loop_v2, lever, key="").loop


def _is_writable(folder: Path) -> bool:
    try:
        with TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
