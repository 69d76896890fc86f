"""Runs a plugin's tool on the plugin's thread."""

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import cast

import structlog
from msgspec.structs import replace

from signalbox.core.failure_location import failure_location
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext, ToolSpec
from signalbox.tools.plugin_thread import PluginThread

_log = structlog.get_logger(__name__)

SearchKey = Callable[[Mapping[str, JsonValue]], str]


def isolated(tool: Tool, thread: PluginThread) -> Tool:
    """Return a tool that passed `fault_of` as one whose function runs on the plugin's thread."""

    async def run(arguments: JsonObject, context: ToolContext) -> JsonValue:
        # A copy: the original arguments are sent to clients and to the model. The workspace belongs to the server's
        # event loop, so a plugin does not get it.
        given = replace(context, workspace=None) if context.workspace else context
        return cast(JsonValue, await thread.run(lambda: tool.run(deepcopy(arguments), given)))

    # Copied field by field: attributes of a subclass may run any code.
    given = tool.spec
    spec = ToolSpec(
        name=given.name,
        description=given.description,
        parameters=deepcopy(given.parameters),
        category=given.category,
        visibility=given.visibility,
        eager=given.eager,
        side_effects=given.side_effects,
        timeout=given.timeout,
        search_key=_safe_key(given.name, given.search_key) if given.search_key else None,
        untrusted=given.untrusted,
        own_failures=given.own_failures,
        url_argument=given.url_argument,
        shows_table=given.shows_table,
        on_request=given.on_request,
        title=given.title,
        summary=given.summary,
    )
    return Tool(spec, run, tool.unavailable)


def _safe_key(name: str, search_key: SearchKey) -> SearchKey:
    """Return a search_key that falls back to the arguments if the plugin's fails."""

    def key(arguments: Mapping[str, JsonValue]) -> str:
        try:
            made = cast(object, search_key(deepcopy(arguments)))
        except BaseException as error:  # noqa: BLE001 - a plugin's function that runs on the server's event loop
            _log.warning(
                "plugin.search_key_failed", tool=name, error=type(error).__name__, raised_at=failure_location(error)
            )
        else:
            if isinstance(made, str):
                return made
            _log.warning("plugin.search_key_failed", tool=name, error=f"returned {type(made).__name__}")
        return json.dumps(dict(arguments), sort_keys=True)

    return key
