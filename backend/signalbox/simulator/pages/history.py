"""The files that the model has written or read, found in the messages of the conversation."""

from typing import Any

from ..http.incoming import NOTE, Incoming, calls_of, text_of
from ..json_values import as_object, as_objects
from ..model.plan import Exchange
from ..model.tool_results import read_result


def files_in(incoming: Incoming) -> dict[str, str]:
    """Return the known content of each file by path; the file that was changed last comes last.

    What the user has changed since is not known.
    """
    results = {str(one.get("tool_call_id")): text_of(one) for one in incoming.messages if one.get("role") == "tool"}
    known: dict[str, str] = {}
    for message in incoming.messages:
        if message.get("role") == "user" and (note := NOTE.match(text_of(message))):
            known = {path: text for path, text in known.items() if path not in note[0]}
        for call in calls_of(message):
            function = as_object(call.get("function"))
            result = read_result(results.get(str(call.get("id")), '{"error": "no result"}'))
            if result.error is None:
                _apply(known, str(function.get("name")), arguments_of(function), as_object(result.value))
    return known


def arguments_of(function: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call in the history, whose text is JSON."""
    return as_object(read_result(str(function.get("arguments") or "{}")).value)


def _apply(known: dict[str, str], name: str, arguments: dict[str, Any], result: dict[str, Any]) -> None:
    path = str(arguments.get("path", ""))
    if name == "create_file":
        _set(known, path, str(arguments.get("content", "")))
    elif name == "edit_file" and path in known:
        text = known[path]
        for edit in as_objects(arguments.get("edits")) or [arguments]:
            text = text.replace(str(edit.get("old_text", "")), str(edit.get("new_text", "")))
        _set(known, path, text)
    elif name == "read_file" and result.get("to_line") == result.get("lines") and result.get("from_line") == 1:
        _set(known, path, str(result.get("content", "")))


def _set(known: dict[str, str], path: str, text: str) -> None:
    known.pop(path, None)
    known[path] = text


def undone(text: str, arguments: dict[str, Any]) -> str:
    """Return the text before an edit."""
    for edit in reversed(as_objects(arguments.get("edits")) or [arguments]):
        text = text.replace(str(edit.get("new_text", "")), str(edit.get("old_text", "")), 1)
    return text


def done(made: list[Exchange], name: str) -> list[Exchange]:
    """Return the calls of a tool in this loop that succeeded."""
    return [one for one in made if one.name == name and one.result.error is None]


def failed(made: list[Exchange], name: str) -> list[Exchange]:
    """Return the calls of a tool in this loop that failed."""
    return [one for one in made if one.name == name and one.result.error is not None]


def image_paths(made: list[Exchange]) -> tuple[str, ...]:
    """Return the paths of the images that were drawn in this loop."""
    found = (as_objects(as_object(one.result.value).get("images")) for one in done(made, "generate_images"))
    return tuple(str(image["path"]) for images in found for image in images if "path" in image)
