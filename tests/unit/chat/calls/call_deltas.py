"""Call deltas in short form, and the calls that they give."""

from typing import NamedTuple

from signalbox.chat.calls.assembly import CallAssembler
from signalbox.core.parts import CallDelta

KNOWN = ("search", "search_news", "calc", "edit_existing_file")


class AssembledCall(NamedTuple):
    """An assembled call: id, name, arguments."""

    id: str | None
    name: str
    arguments: str


def assemble(*deltas: CallDelta, known: tuple[str, ...] = KNOWN) -> list[AssembledCall]:
    """Merge deltas into calls."""
    assembler = CallAssembler(known)
    for delta in deltas:
        assembler.add(delta)
    return [AssembledCall(call.id, call.name, call.arguments) for call in assembler.calls()]


def d(
    index: int | None = 0,
    call_id: str | None = None,
    name: str | None = None,
    args: str | None = None,
    at: int | None = None,
) -> CallDelta:
    """Return a delta."""
    return CallDelta(index, call_id, name, args, at)


Q1, Q2 = '{"q":1}', '{"q":2}'
