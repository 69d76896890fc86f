"""Checks `contents`, and returns them as the messages of a chat completion."""

from dataclasses import dataclass
from typing import Any, cast

import orjson

from ...json_values import as_list, as_object
from .errors import invalid, wrong_type
from .fields import field, names_only, snake

Part = dict[str, Any]
Message = dict[str, Any]
_DATA = (
    "text inlineData fileData functionCall functionResponse executableCode codeExecutionResult toolCall toolResponse"
)

_PART = f"{_DATA} thought thoughtSignature videoMetadata mediaResolution partMetadata"
_CALL = "id name args partialArgs willContinue"
_RESPONSE = "id name response parts willContinue scheduling"
# Clients wrap a result that is only a text; these are the usual names.
_WRAPPERS = ("output", "result", "error", "content")


@dataclass(frozen=True, slots=True)
class Content:
    """One entry of `contents`, with its index."""

    at: int
    role: str
    parts: tuple[Part, ...]

    @property
    def calls(self) -> list[Part]:
        """Return the parts with function calls."""
        return [part for part in self.parts if field(part, "functionCall") is not None]

    @property
    def responses(self) -> list[Part]:
        """Return the parts with function responses."""
        return [part for part in self.parts if field(part, "functionResponse") is not None]


def parse_contents(value: object) -> list[Content]:
    """Return the contents; raises GeminiError."""
    if not value:
        raise invalid("* GenerateContentRequest.contents: contents is not specified\n")
    entries = as_list(value) or [value]
    return [parse_content(entry, at, f"contents[{at}]") for at, entry in enumerate(entries)]


def parse_content(value: object, at: int, where: str) -> Content:
    """Return one content, or the system instruction."""
    content = as_object(value)
    if not content:
        raise wrong_type(where, "type.googleapis.com/google.ai.generativelanguage.v1beta.Content", value)
    names_only(content, "role parts", where)
    role = content.get("role") or "user"
    if role not in ("user", "model", "function"):
        raise invalid("Please use a valid role: user, model.")
    given = content.get("parts")
    parts = as_list(given) or ([as_object(given)] if as_object(given) else [])
    if not parts:
        raise invalid(f"* GenerateContentRequest.{where}.parts: contents.parts must not be empty.\n")
    for number, part in enumerate(parts):
        _check_part(part, f"{where}.parts[{number}]")
    return Content(at, "model" if role == "model" else "user", tuple(parts))


def _check_part(part: object, where: str) -> None:
    if not isinstance(part, dict):
        raise wrong_type(where, "type.googleapis.com/google.ai.generativelanguage.v1beta.Part", part)
    fields = as_object(cast(object, part))
    names_only(fields, _PART, where)
    if not any(field(fields, name) is not None for name in _DATA.split()):
        path = f"GenerateContentRequest.{where}.data"
        raise invalid(f"* {path}: required oneof field 'data' must have one initialized field\n")
    for name in ("text", "thoughtSignature"):
        value = field(fields, name)
        if value is not None and not isinstance(value, str):
            raise wrong_type(f"{where}.{snake(name)}", "TYPE_BYTES" if "S" in name else "TYPE_STRING", value)
    for name, known in (("functionCall", _CALL), ("functionResponse", _RESPONSE)):
        if field(fields, name) is not None:
            _check_function(as_object(field(fields, name)), known, f"{where}.{snake(name)}")


def _check_function(fields: Part, known: str, where: str) -> None:
    names_only(fields, known, where)
    name = fields.get("name") or ""
    if not isinstance(name, str):
        raise wrong_type(f"{where}.name", "TYPE_STRING", name)
    if not name:
        raise invalid(f"* GenerateContentRequest.{where}.name: Name cannot be empty.\n")
    for key in ("args", "response"):
        if key in fields and not isinstance(fields[key], dict):
            raise wrong_type(f"{where}.{key}", "type.googleapis.com/google.protobuf.Struct", fields[key])


def check_order(contents: list[Content]) -> None:
    """Check that calls follow the user, and that each turn of calls is directly followed by all its results."""
    for content, before in zip(contents, [None, *contents], strict=False):
        if content.calls and (content.role != "model" or before is None or before.role != "user"):
            raise invalid(
                "Please ensure that function call turn comes immediately after a user turn or after a function "
                "response turn."
            )
        if content.responses and (content.role != "user" or before is None or not before.calls):
            raise invalid("Please ensure that function response turn comes immediately after a function call turn.")
    for content, after in zip(contents, [*contents[1:], None], strict=True):
        if content.calls and len(content.calls) != len(after.responses if after else []):
            raise invalid(
                "Please ensure that the number of function response parts is equal to the number of function call "
                "parts of the function call turn."
            )


def messages_of(contents: list[Content]) -> list[Message]:
    """Return the contents as messages; calls without an id get one from their position."""
    messages: list[Message] = []
    ids: list[tuple[str, str]] = []
    for content in contents:
        if content.role == "model":
            message = _assistant(content)
            ids = [(call["id"], call["function"]["name"]) for call in message.get("tool_calls", ())]
            messages.append(message)
            continue
        messages += [_result(as_object(field(part, "functionResponse")), ids) for part in content.responses]
        rest = [part for part in content.parts if field(part, "functionResponse") is None]
        if rest:
            messages.append({"role": "user", "content": _user_content(rest)})
    return messages


def text_of_parts(parts: tuple[Part, ...] | list[Part]) -> str:
    """Return the text of parts, without thoughts."""
    return "".join(str(part.get("text") or "") for part in parts if part.get("thought") is not True)


def _assistant(content: Content) -> Message:
    message: Message = {"role": "assistant", "content": text_of_parts(content.parts)}
    calls = [as_object(field(part, "functionCall")) for part in content.calls]
    if calls:
        message["tool_calls"] = [
            {
                "id": str(call.get("id") or f"call_{content.at}_{number}"),
                "type": "function",
                "function": {"name": call["name"], "arguments": orjson.dumps(call.get("args") or {}).decode()},
            }
            for number, call in enumerate(calls)
        ]
    return message


def _result(response: Part, ids: list[tuple[str, str]]) -> Message:
    """Return a result as a tool message: it belongs to the call with its id, else to the next with its name."""
    wanted = str(response.get("id") or "")
    names = [entry for entry in ids if entry[0] == wanted] or [one for one in ids if one[1] == response["name"]] or ids
    found = names[0]
    ids.remove(found)
    return {"role": "tool", "tool_call_id": found[0], "content": _result_text(as_object(response.get("response")))}


def _result_text(response: Part) -> str:
    [only] = response.values() if len(response) == 1 and next(iter(response)) in _WRAPPERS else (response,)
    return only if isinstance(only, str) else orjson.dumps(only).decode()


def _user_content(parts: list[Part]) -> str | list[Part]:
    if all("text" in part for part in parts):
        return "\n".join(str(part["text"]) for part in parts)
    return [_user_part(part) for part in parts]


def _user_part(part: Part) -> Part:
    if "text" in part:
        return {"type": "text", "text": part["text"]}
    data, file = as_object(field(part, "inlineData")), as_object(field(part, "fileData"))
    kind = field(data or file, "mimeType") or "application/octet-stream"
    url = f"data:{kind};base64,{data['data']}" if "data" in data else str(field(file, "fileUri") or "")
    if str(kind).startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"filename": str(field(data or file, "displayName") or "file"), "file_data": url}}
