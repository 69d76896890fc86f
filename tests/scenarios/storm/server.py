"""The storm's server: `signalbox serve` with a tool that counts and an endpoint that reports the process's state."""

import asyncio
import ctypes
import gc
import os
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from signalbox.app.deps import Services
from signalbox.app.main import create_app
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext, ToolSpec
from signalbox.server import serve
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.scenarios.storm.tool_names import INSIDE, WRITES

_WORDS: JsonObject = {"type": "string"}
_PARAMETERS: JsonObject = {"type": "object", "properties": {"title": _WORDS, "text": _WORDS}, "required": ["title"]}
_PAGE = os.sysconf("SC_PAGE_SIZE")
WRITTEN = Counter[str]()


async def _write(arguments: JsonObject, context: ToolContext) -> JsonValue:
    """Count instead of causing a side effect: a call that must run once, and never from a cut step."""
    WRITTEN[context.run_id] += 1
    return {"written": True}


async def inside(request: Request) -> JSONResponse:
    """Report what this process holds; `?collect=1` first collects garbage and returns free memory to the system.

    Without it, the figure would be the allocator's reserve, which follows the peak, and not the used memory.
    """
    if "collect" in request.query_params:
        gc.collect()
        if sys.platform == "linux":
            getattr(ctypes.CDLL(None), "malloc_trim", int)(0)
    parts: Services = request.app.state.services
    return JSONResponse(
        {
            "tasks": len(asyncio.all_tasks()),
            "names": Counter(_kind(task) for task in asyncio.all_tasks()).most_common(),
            "live": len(parts.runs._live) + len(parts.runs._undurable),
            "sockets": _sockets(),
            "pooled": _pooled(parts),
            "files": sorted(str(path) for path in Path.cwd().rglob("*") if path.is_file()),
            "rss": _resident(),
            "written": sum(WRITTEN.values()),
            "twice": sum(count > 1 for count in WRITTEN.values()),
        }
    )


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


def _kind(task: "asyncio.Task[Any]") -> str:
    return getattr(task.get_coro(), "__qualname__", "?")


def _sockets() -> int:
    links = (os.path.realpath(entry.path) for entry in os.scandir("/proc/self/fd"))
    return sum("socket:" in link for link in links)


def _pooled(parts: Services) -> int:
    """Count idle upstream connections in the pool, which are no leak."""
    return sum(len(idle) for server in parts.upstreams.servers for idle in server.http._pool._idle.values())


def _made(*arguments: Any, **named: Any) -> FastAPI:
    app = create_app(*arguments, **named)
    app.router.routes.insert(0, Route(INSIDE, inside))
    return app


if __name__ == "__main__":
    tool = Tool(ToolSpec(WRITES, "Writes a note down.", _PARAMETERS), _write)
    serve.create_app = partial(_made, extra_tools=(tool,))
    sys.exit(serve.serve("127.0.0.1", 0))
