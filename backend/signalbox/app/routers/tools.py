"""GET /api/tools: the tools of this server."""

from fastapi import APIRouter

from signalbox.app.access import CallerDep
from signalbox.app.deps import ServicesDep
from signalbox.app.openapi.document import api_errors, json_response
from signalbox.app.openapi.response_types import Tool as ToolResponse
from signalbox.app.openapi.response_types import ToolList
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.chat.plan import limits_of
from signalbox.core.ask import AskedLimits
from signalbox.core.tools import Tool

router = APIRouter(tags=["tools"], route_class=KnownParameters)


@router.get("/api/tools", response_model=None, responses={200: json_response(ToolList), **api_errors()})
async def list_tools(services: ServicesDep, caller: CallerDep) -> ToolList:
    """List all tools that the caller may use, with their schemas and metadata, and the default limits of a run."""
    limits = limits_of(AskedLimits(), search_is_paid=services.search_is_paid)
    return {
        "tools": [_shown(tool) for tool in services.executor.tools if caller.may_use_tool(tool.spec.name)],
        "limits": {"max_steps": limits.max_steps, "max_searches": limits.max_searches},
    }


def _shown(tool: Tool) -> ToolResponse:
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
        "shows_table": spec.shows_table,
        "on_request": spec.on_request,
        "needs_conversation": spec.needs_workspace,
        "available": tool.unavailable is None,
        "unavailable": tool.unavailable,
    }
