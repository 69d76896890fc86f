"""The part of a text file that fits into a tool's result."""

import orjson

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.workspace import WorkspaceFile
from signalbox.tools.files.line_diff import lines_of

# Characters of JSON. The executor cuts longer results in the middle; cutting here keeps whole lines.
MOST_JSON = 20_000

RANGE: JsonObject = {
    "from_line": {"type": "integer", "description": "The first line to read. Default: 1."},
    "to_line": {"type": "integer", "description": "The last line to read. Default: the last one of the file."},
}


def excerpt(file: WorkspaceFile, text: str, arguments: JsonObject) -> JsonObject:
    """Return the requested lines of a file, as many as fit, and a note if there are more."""
    lines = lines_of(text)
    first, last = _range(arguments, len(lines))
    shown, note = _fitting(lines[first - 1 : last], first)
    found: JsonObject = {
        "path": file.version.path,
        "version": file.version.version,
        "lines": len(lines),
        "from_line": first,
        "to_line": first - 1 + len(shown),
        "content": "".join(shown),
    }
    return found | {"note": note} if note else found


def _range(arguments: JsonObject, lines: int) -> tuple[int, int]:
    first = _line(arguments.get("from_line"), "from_line", 1)
    last = _line(arguments.get("to_line"), "to_line", max(1, lines))
    if first > max(1, lines):
        raise _invalid("from_line", f"the file has only {lines:,} lines")
    if last < first:
        raise _invalid("to_line", "must not be smaller than from_line")
    return first, min(last, lines)


def _line(value: JsonValue, name: str, default: int) -> int:
    if value is None:
        return default
    if not isinstance(value, int | float) or value < 1:
        raise _invalid(name, "lines are counted from 1")
    return int(value)


def _fitting(lines: list[str], first: int) -> tuple[list[str], str]:
    """Return the lines that fit, at least a part of the first one, and a note about the rest."""
    left = MOST_JSON
    for place, line in enumerate(lines):
        left -= len(orjson.dumps(line)) - 2
        if left >= 0:
            continue
        if place:
            return lines[:place], f"These lines fit into one result. Continue with from_line {first + place}."
        return [_cut(line)], f"Line {first} is too long for one result, so only its beginning is shown."
    return lines, ""


def _cut(line: str) -> str:
    keep = min(MOST_JSON, len(line))
    while (size := len(orjson.dumps(line[:keep]))) > MOST_JSON:
        keep = keep * MOST_JSON // size - 1
    return line[:keep]


def _invalid(name: str, fault: str) -> ToolError:
    return ToolError(Code.INVALID_ARGUMENTS, f"{name}: {fault}")
