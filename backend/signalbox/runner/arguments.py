"""Checks of the values that a program gives to a run. Each error names the argument."""

from collections.abc import Mapping, Sequence
from math import isfinite, isnan
from operator import index
from typing import TYPE_CHECKING, Any, cast

import orjson

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import MAX_DEPTH, ImagePart, JsonObject, JsonValue, image_parts
from signalbox.core.tools import Tool, ToolSpec

if TYPE_CHECKING:
    from signalbox.services.tool_executor import ToolExecutor

_LONGEST_SHOWN = 80


def wrong(field: str, expected: str, got: object) -> RequestError:
    """Return the error of an argument with a wrong value."""
    shown = f"{got!r:.{_LONGEST_SHOWN}}" if isinstance(got, str | int | float) else type(got).__name__
    return RequestError(Code.INVALID_REQUEST, f"{field}: expected {expected}, got {shown}", field)


def counted(field: str, value: Any) -> int:
    """Return an integer of at least 1; raises RequestError."""
    try:
        number = int(value) if isinstance(value, float) and value.is_integer() else index(cast(Any, value))
    except TypeError:
        number = 0
    if number < 1 or isinstance(value, bool):
        raise wrong(field, "an integer of at least 1", value)
    return number


def usd(field: str, value: Any) -> float:
    """Return an amount of at least 0 USD; raises RequestError."""
    try:
        amount = float("nan") if isinstance(value, str | bytes | bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        amount = float("nan")
    if isnan(amount) or amount < 0:
        raise wrong(field, "at least 0 USD", value)
    return amount


def executor_of(tools: Any) -> "ToolExecutor":
    """Return an executor of the tools; raises RequestError."""
    from signalbox.services.tool_executor import ToolExecutor

    if isinstance(tools, Tool):
        raise wrong("tools", f"a list of tools, such as [{tools.spec.name}]", tools)
    try:
        listed = [*tools]
    except TypeError:
        raise wrong("tools", "a list of tools", tools) from None
    for place, tool in enumerate(listed):
        if not isinstance(tool, Tool):
            raise wrong(f"tools[{place}]", "a tool, as @tool makes one", tool)
        _check_spec(f"tools[{place}].spec", tool.spec)
    try:
        return ToolExecutor(listed)
    except ValueError as error:
        raise RequestError(Code.INVALID_REQUEST, f"tools: {error}", "tools") from None


def _check_spec(field: str, spec: ToolSpec) -> None:
    try:
        orjson.dumps([spec.description, spec.parameters])
    except TypeError:  # it does not say which part is wrong
        text_of(f"{field}.description", spec.description)
        object_of(f"{field}.parameters", spec.parameters)


def text_of(field: str, value: Any) -> str:
    """Return a text that can be sent; raises RequestError."""
    if not isinstance(value, str):
        raise wrong(field, "a text", value)
    _check_encodable(field, field, value)
    return value


def _check_encodable(field: str, what: str, text: str) -> None:
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        words = (
            f"{what}: the character at position {error.start} is a lone surrogate, which UTF-8 cannot encode; "
            "replace it, for example with text.encode('utf-8', 'replace').decode()"
        )
        raise RequestError(Code.INVALID_REQUEST, words, field) from None


def json_of(field: str, value: Any, depth: int = 0) -> JsonValue:
    """Return a copy of a JSON value, with lists for tuples; raises RequestError, which names the wrong part."""
    if depth > MAX_DEPTH:
        raise RequestError(Code.INVALID_REQUEST, f"{field:.80}: is nested more than {MAX_DEPTH} levels deep", field)
    match value:
        case None | bool() | int():
            return value
        case str():
            return text_of(field, value)
        case float():
            if not isfinite(value):
                raise wrong(field, "a number that JSON can express", value)
            return value
        case list() | tuple():
            items = cast("Sequence[object]", value)
            return [json_of(f"{field}[{place}]", item, depth + 1) for place, item in enumerate(items)]
        case Mapping():
            return object_of(field, cast("Mapping[object, object]", value), depth)
        case _:
            raise wrong(field, "a JSON value", value)


def object_of(field: str, value: Any, depth: int = 0) -> JsonObject:
    """Return a copy of a mapping as a JSON object; raises RequestError, which names the wrong part."""
    if not isinstance(value, Mapping):
        raise wrong(field, "a dict", value)
    copy: JsonObject = {}
    for key, inner in cast("Mapping[object, object]", value).items():
        if not isinstance(key, str):
            raise wrong(field, "texts as keys", key)
        _check_encodable(field, f"a key of {field}", key)
        copy[key] = json_of(f"{field}.{key}", inner, depth + 1)
    return copy


def images_of(field: str, images: Any) -> list[ImagePart]:
    """Return images and their URLs as images; raises RequestError."""
    try:
        return image_parts(images)
    except (TypeError, ValueError) as error:
        raise RequestError(Code.INVALID_REQUEST, f"{field}{error}", field) from None
