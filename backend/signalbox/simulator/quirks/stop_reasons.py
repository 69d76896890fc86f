"""Steps and answers that a provider stopped, as only the native finish reason shows (A20)."""

from ..families import Family
from ..faults.steps import answer, one_search
from ..http.incoming import Incoming
from ..model.turns import Call, Turn
from .quirk import Quirk, first_step, with_finish

_UNKNOWN = "brand_new_reason"


def _note(incoming: Incoming) -> list[Call]:
    """Call save_note, which has a side effect, or search if it is not offered."""
    if not any(tool.name == "save_note" for tool in incoming.tools):
        return one_search(incoming)
    return [Call("save_note", {"title": "A step that was stopped", "text": "This must not be on disk."})]


def _answer(incoming: Incoming, family: Family) -> Turn:
    return answer(incoming)


def _call(reason: str, native: str) -> Quirk:
    stream, whole = with_finish(reason, native)
    return Quirk(turn=first_step(_note), stream=stream, whole=whole)


def _text(reason: str, native: str) -> Quirk:
    stream, whole = with_finish(reason, native, calls_only=False)
    return Quirk(turn=_answer, stream=stream, whole=whole)


QUIRKS: dict[str, Quirk] = {
    "a20-refusal": _call("tool_calls", "refusal"),
    "a20-pause": _call("tool_calls", "pause_turn"),
    "a20-unknown": _call("tool_calls", _UNKNOWN),
    "a20-word": _call(_UNKNOWN, ""),
    "a20-text-refusal": _text("stop", "refusal"),
    "a20-text-pause": _text("stop", "pause_turn"),
    "a20-text-unknown": _text("stop", _UNKNOWN),
}
