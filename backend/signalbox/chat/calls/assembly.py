"""Assembles calls from deltas: which delta belongs to which call, and when a call is complete."""

from collections.abc import Callable, Collection, Iterable
from itertools import groupby
from operator import attrgetter
from typing import cast

from msgspec import Struct

from signalbox.chat.calls.arguments import read_arguments
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonObject
from signalbox.core.parts import ArgumentStatus, CallDelta, RawCall

# Arguments may look complete by chance (braces in strings). After this many tries, they are parsed at the step's end.
_CLOSE_TRIES = 8
# Beyond these limits an answer is an attack or a malfunction of the model.
MOST_CALLS = 1_000
_MOST_NAME = 1_000
_MOST_ARGUMENTS = 4 * 1024 * 1024
# Longer arguments than this are not parsed while they stream.
_EAGER_LIMIT = 100_000

_owner_of = cast(
    "Callable[[CallDelta], tuple[int | None, str | None, str | None, int | None, bool]]",
    attrgetter("index", "id", "name", "position", "whole"),
)
# What `_owner_of` returns after the index for a piece of arguments.
_ONLY_ARGUMENTS = [None, None, None, False]
_arguments_of = cast("Callable[[CallDelta], str | None]", attrgetter("arguments"))


class OpenCall(Struct):
    """One call while it is assembled. `slot` is its index in the step.

    `value` is set once its arguments are a complete object; `closed_at` is their length at that time.
    """

    slot: int
    index: int | None
    position: int = 0
    id: str | None = None
    name: str = ""
    pieces: list[str] = []
    size: int = 0
    depth: int = 0
    tries: int = 0
    value: JsonObject | None = None
    closed_at: int = 0

    @property
    def arguments(self) -> str:
        """The argument text so far."""
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""


class CallAssembler(Struct, eq=False):
    """Merges streamed call deltas by the rules that real providers need; arguments are not repaired.

    `known_names` are the offered tools: they decide whether a second piece of a name continues it (quirk A5).
    `on_arguments` is called with each piece of a call's arguments. `touched` are the calls that may have been completed
    since `closed` was last called.
    """

    known_names: Collection[str] = ()
    on_arguments: "Callable[[OpenCall, str], None] | None" = None
    touched: list[OpenCall] = []
    _calls: list[OpenCall] = []
    _newest_at: dict[int | None, OpenCall] = {}
    _first_of: dict[tuple[int | None, str], OpenCall] = {}
    _newest_of: dict[str, OpenCall] = {}

    def add(self, delta: CallDelta) -> None:
        """Merge one delta into its call, or open a new call; raises UpstreamError over a limit."""
        call = self._owner(delta)
        if call is None:
            call = self._open(delta)
        if delta.id and not call.id:
            call.id = delta.id  # set once: ids are resent, late, or repeated in every chunk (quirk A4)
            self._identify(call, delta.id)
        if delta.name:
            call.name = self._named(call.name, delta.name)
            if len(call.name) > _MOST_NAME:
                raise _excessive(f"The name in a tool call is longer than {_MOST_NAME:,} characters.")
        if delta.whole:
            call.pieces, call.size, call.depth, call.value = [], 0, 0, None
        if delta.arguments:
            call.pieces.append(delta.arguments)
            call.size += len(delta.arguments)
            if call.size > _MOST_ARGUMENTS:
                raise _excessive(f"The arguments of a tool call are longer than {_MOST_ARGUMENTS // 1024 // 1024} MB.")
            if self.on_arguments is not None and not delta.whole:  # a preview, which cannot be taken back
                self.on_arguments(call, delta.arguments)
            call.depth += delta.arguments.count("{") - delta.arguments.count("}")
            if call.value is None and delta.arguments.rstrip().endswith("}"):
                self.touched.append(call)

    def add_all(self, deltas: Iterable[CallDelta]) -> None:
        """Merge deltas; consecutive pieces of one call's arguments, which most deltas are, are joined first."""
        for (index, *others), alike in groupby(deltas, _owner_of):
            deltas_of_one = list(alike)
            pieces = list(filter(None, map(_arguments_of, deltas_of_one)))
            # A delta without arguments may still open a call.
            if others == _ONLY_ARGUMENTS and len(pieces) == len(deltas_of_one):
                self.add(CallDelta(index, arguments="".join(pieces)))
            else:
                for delta in deltas_of_one:
                    self.add(delta)

    def closed(self) -> list[OpenCall]:
        """Return the calls whose arguments became a complete JSON object since this was last called."""
        if not self.touched:
            return []
        touched = {call.slot: call for call in self.touched}
        self.touched = []
        return [call for call in touched.values() if self._closes_early(call)]

    def calls(self) -> list[RawCall]:
        """Return all calls as they arrived, in order; calls without a name are dropped (quirk A17)."""
        return [_raw(call) for call in self.open_calls()]

    def open_calls(self) -> list[OpenCall]:
        """Return the calls themselves, with their slots."""
        return [call for call in self._calls if call.name]

    def _owner(self, delta: CallDelta) -> OpenCall | None:
        """Return the call that a delta continues.

        The index alone is not a key: gateways number calls per chunk, always send 0, or send none (quirks A1, A2).
        """
        if delta.index is None:
            return self._owner_without_index(delta)
        call = self._newest_at.get(delta.index)
        if call is None:
            return self._owner_indexed_late(delta)
        if delta.id and call.id and delta.id != call.id:
            known = self._first_of.get((delta.index, delta.id))
            # A different id opens another call. Without a name and after incomplete arguments, only the id changed.
            return known or (None if delta.name or self._closes(call) else call)
        if not delta.id and delta.name and delta.arguments and self._closes(call):
            return None  # no id, but a name and arguments after a complete call: the next call (A1 b)
        return None if delta.name and self._is_other_name(call, delta.name) else call

    def _owner_indexed_late(self, delta: CallDelta) -> OpenCall | None:
        """Return a call that began without an index and continues with one (quirk A2)."""
        if not delta.id and not delta.name and self._calls and not self._closes(self._calls[-1]):
            return self._waiting_at(delta.index or 0)  # arguments alone belong to an incomplete call (A17)
        call = self._newest_at.get(None)
        if call is None or delta.name or (delta.id and delta.id != call.id):
            return None
        call.index = delta.index
        self._newest_at[delta.index] = self._newest_at.pop(None)
        if call.id:
            self._identify(call, call.id)
        return call

    def _waiting_at(self, index: int) -> OpenCall:
        """Return the call at this index if it began without one, else the newest."""
        call = self._calls[index] if 0 <= index < len(self._calls) else self._calls[-1]
        return call if call.index is None else self._calls[-1]

    def _owner_without_index(self, delta: CallDelta) -> OpenCall | None:
        if delta.id:
            call = self._newest_of.get(delta.id)
            return None if call and delta.name and self._is_other_name(call, delta.name) else call
        if not self._calls:
            return None
        newest = self._calls[-1]
        if delta.name:
            is_next = delta.position is not None and delta.position > newest.position
            continues = not is_next and not self._closes(newest) and not self._is_other_name(newest, delta.name)
            return newest if continues else None
        if delta.position is not None and delta.position < len(self._calls):
            return self._calls[delta.position]
        return newest

    def _is_other_name(self, call: OpenCall, name: str) -> bool:
        """Whether a complete call is followed by another tool's name, which begins another call."""
        return name != call.name and name in self.known_names and call.name in self.known_names and self._closes(call)

    def _identify(self, call: OpenCall, call_id: str) -> None:
        """Index a call by its id, per index and overall; searching all calls would be quadratic."""
        first = self._first_of.setdefault((call.index, call_id), call)
        if call.slot < first.slot:
            self._first_of[call.index, call_id] = call
        newest = self._newest_of.setdefault(call_id, call)
        if call.slot > newest.slot:
            self._newest_of[call_id] = call

    def _open(self, delta: CallDelta) -> OpenCall:
        if len(self._calls) >= MOST_CALLS:
            raise _excessive(f"The model made more than {MOST_CALLS:,} calls in one answer.")
        call = OpenCall(slot=len(self._calls), index=delta.index, position=delta.position or 0)
        self._calls.append(call)
        self._newest_at[delta.index] = call
        return call

    def _named(self, current: str, piece: str) -> str:
        """Merge a name: it comes complete, again in every chunk, or in pieces (quirk A5)."""
        if not current or piece == current:
            return piece
        if current + piece in self.known_names:
            return current + piece
        if current in self.known_names or (current.endswith(piece) and not self.known_names):
            return current
        return piece if piece.startswith(current) else current + piece

    def _closes_early(self, call: OpenCall) -> bool:
        """Whether arguments that end in a brace are complete. The number of tries is limited, because parsing costs.

        Counting braces only saves tries: with a brace in a string (quirk A18) a call may wait for the end of its step.
        """
        if call.value is not None:
            return True
        if call.depth > 0 or call.tries >= _CLOSE_TRIES:
            return False
        call.tries += 1
        return self._closes(call)

    def _closes(self, call: OpenCall) -> bool:
        """Whether the arguments so far are one complete JSON object, according to a JSON decoder."""
        if call.value is None and call.pieces and call.size <= _EAGER_LIMIT:
            status, value = read_arguments(call.arguments)
            if status is ArgumentStatus.OK and isinstance(value, dict):
                call.value = value
                call.closed_at = call.size
        return call.value is not None


def _excessive(words: str) -> UpstreamError:
    return UpstreamError(Code.UPSTREAM_PROTOCOL, words, retryable=False)


def _raw(call: OpenCall) -> RawCall:
    text = call.arguments
    has_grown = call.value is None or call.size > call.closed_at
    status, value = read_arguments(text) if has_grown else (ArgumentStatus.OK, call.value)
    return RawCall(id=call.id, name=call.name, arguments=text, status=status, value=value)
