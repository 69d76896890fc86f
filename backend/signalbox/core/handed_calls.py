"""The ids under which calls are handed to a client; an id alone finds the run that made the call."""

import re
from collections.abc import Iterable

from msgspec import Struct

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError

_HANDED = re.compile(r"call_([0-9a-f]{32})_([A-Za-z0-9]{1,64})")


class Handle(Struct, frozen=True):
    """A run and one of its calls."""

    run_id: str
    call_id: str


def handed_id(run_id: str, call_id: str) -> str:
    """Return the id that a client gets for a call."""
    return f"call_{run_id}_{call_id}"


def handle_in(given: str) -> Handle | None:
    """Return what an id names, None for an id that Signalbox did not make."""
    found = _HANDED.fullmatch(given)
    return Handle(found[1], found[2]) if found else None


def no_results(call_ids: Iterable[str], field: str) -> RequestError:
    """Return the error for calls without a result, in the words that OpenAI's clients know."""
    words = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(sorted(call_ids))}"
    )
    return RequestError(Code.INVALID_REQUEST, words, field)
