"""Turns raw calls into calls that can run: a few safe repairs, otherwise an error for the model."""

from msgspec import UNSET, Struct, UnsetType

from signalbox.chat.calls.arguments import is_same, read_arguments, value_at
from signalbox.core.codes import Code
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import ArgumentStatus, RawCall
from signalbox.core.tools import ToolOutcome

# More concatenated calls than this are noise.
_MAX_CONCATENATED = 16
# Values beyond this number are not read, even if most are equal.
_MAX_VALUES = 256


class RepairedCall(Struct, frozen=True):
    """One call whose arguments are an object, or with the error why it cannot run; `id` if it is shown already.

    `previewed` are the numbers of characters of the strings that its previews contain completely, by JSON Pointer.
    """

    name: str
    arguments: JsonObject
    upstream_id: str | None
    fault: ToolOutcome | None = None
    raw: str | None = None
    id: str | None = None
    previewed: dict[str, int] | UnsetType = UNSET


def repaired(call: RawCall) -> list[RepairedCall]:
    """Return the intended call, or several if the provider concatenated them; broken arguments never become `{}`."""
    objects = _objects(call)
    if objects:
        return [RepairedCall(call.name, value, call.id if place == 0 else None) for place, value in enumerate(objects)]
    return [RepairedCall(call.name, {}, call.id, _fault(call), call.arguments)]


def _objects(call: RawCall) -> list[JsonObject]:
    match call.status:
        case ArgumentStatus.OK if isinstance(call.value, dict):
            return [call.value]
        case ArgumentStatus.EMPTY:
            return [{}]  # Claude sends "" for a call without arguments (quirk A9); the schema check reports gaps
        case ArgumentStatus.NON_OBJECT if call.value is None:
            return [{}]  # the literal null, from llama on Groq
        case ArgumentStatus.NON_OBJECT:
            return _unwrapped(call.value)
        case _:
            return _concatenated(call.arguments)


def _unwrapped(value: JsonValue) -> list[JsonObject]:
    """Decode arguments that were encoded twice (quirk A10)."""
    status, inner = read_arguments(value) if isinstance(value, str) else (ArgumentStatus.NON_OBJECT, None)
    return [inner] if status is ArgumentStatus.OK and isinstance(inner, dict) else []


def _concatenated(text: str) -> list[JsonObject]:
    """Read concatenated objects (quirk A6).

    Equal objects are one call, different ones several. A leading `{}` is an artefact. A truncated tail is dropped.
    """
    found: list[JsonObject] = []
    at = len(text) - len(text.lstrip())
    for _ in range(_MAX_VALUES):
        if len(found) > _MAX_CONCATENATED or (read := value_at(text, at)) is None:
            break
        value, at = read
        if isinstance(value, dict) and not any(is_same(value, other) for other in found):
            found.append(value)
    is_artefact = bool(found) and not found[0] and (len(found) > 1 or text.startswith("{", at))
    return found[1:] if is_artefact else found


def _fault(call: RawCall) -> ToolOutcome:
    if call.status is ArgumentStatus.TRUNCATED:
        return ToolOutcome.failed(
            Code.ARGUMENTS_CUT,
            f"The call of {call.name} was cut off before its arguments were complete; make a shorter call.",
        )
    return ToolOutcome.failed(
        Code.INVALID_ARGUMENTS, f"The arguments of {call.name} are not a JSON object; send one that fits the schema."
    )
