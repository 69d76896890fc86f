"""GET /api/tools: the tools of this server; those that are unavailable say why."""

from fastapi import APIRouter

from signalbox.app.deps import PartsDep
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.app.tool_listing import ToolList
from signalbox.chat.plan import limits_of
from signalbox.core.ask import AskedLimits
from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool

router = APIRouter(tags=["tools"], route_class=KnownParameters)


@router.get("/api/tools", response_model=None, responses={200: {"model": ToolList}})
async def list_tools(parts: PartsDep) -> JsonObject:
    """List every tool with its schema, its metadata and its words for people, and a run's default limits."""
    limits = limits_of(AskedLimits(), search_is_paid=parts.search_is_paid)
    return {
        "tools": [_shown(tool) for tool in parts.executor.tools],
        "limits": {"max_steps": limits.max_steps, "max_searches": limits.max_searches},
    }


def _shown(tool: Tool) -> JsonObject:
    spec = tool.spec
    return {
        "name": spec.name,
        "title": spec.display_title,
        "summary": spec.display_summary,
        "description": spec.description,
        "parameters": spec.parameters,
        "category": spec.category,
        "visibility": spec.visibility,
        "eager": spec.eager,
        "timeout": spec.timeout,
        "available": tool.unavailable is None,
        "unavailable": tool.unavailable,
    }
