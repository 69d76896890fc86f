"""What the search tools have in common: the search text, how many results, and a tool without a backend."""

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import ToolContext, ToolFunction
from signalbox.tools.untrusted_text import visible_line


def search_text(arguments: JsonObject, longest: int) -> str:
    """Return the argument `query` as visible text; raises ToolError INVALID_ARGUMENTS."""
    text = visible_line(str(arguments["query"]), longest + 1)
    if not text:
        raise ToolError(Code.INVALID_ARGUMENTS, "query: must not be empty")
    if len(text) > longest:
        raise ToolError(Code.INVALID_ARGUMENTS, f"query: must not be longer than {longest} characters")
    return text


def result_count(arguments: JsonObject, name: str, most: int, usual: int) -> int:
    """Return the argument with the number of results; raises ToolError INVALID_ARGUMENTS."""
    value = arguments.get(name)
    if value is None:
        return usual
    if not isinstance(value, int | float) or not 1 <= value <= most:
        raise ToolError(Code.INVALID_ARGUMENTS, f"{name}: expected an integer from 1 to {most}, got {value}")
    return int(value)


def fails_without_backend(what: str) -> ToolFunction:
    """Return what a search tool runs that has no backend."""

    async def run(arguments: JsonObject, context: ToolContext) -> JsonValue:
        raise ToolError(Code.TOOL_UNAVAILABLE, f"{what} is not set up here; answer without it and say so.")

    return run
