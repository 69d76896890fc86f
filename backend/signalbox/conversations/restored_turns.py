"""Replaces a stateless client's copies of earlier turns by the turns that were stored with their runs.

A client has the calls that were handed to it under ids that name their run. Its copy of such a turn lacks the
reasoning, its signatures, and the calls and results of our tools, which some providers require back.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from signalbox.chat.history.message_order import as_text
from signalbox.chat.history.tool_pairing import exchanges
from signalbox.conversations.turns import words_of
from signalbox.core.handed_calls import handle_in
from signalbox.core.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage

StoredTurns = Mapping[str, Sequence[Message]]
"""The turns of the caller's complete runs, by run id."""


class Restored(Struct, frozen=True):
    """A conversation with its stored turns.

    `open_loop` is how many of the messages, the last ones, belong to the open tool loop. `runs` are the runs in that
    loop whose tools have returned something.
    """

    messages: list[Message]
    open_loop: int = 0
    runs: tuple[str, ...] = ()


def runs_named_in(messages: Iterable[Message]) -> list[str]:
    """Return the ids of the runs whose calls a client sends back."""
    calls = (call for message in messages if isinstance(message, AssistantMessage) for call in message.calls)
    return [*dict.fromkeys(handle.run_id for call in calls if (handle := handle_in(call.id)))]


def restored(messages: Sequence[Message], stored: StoredTurns, ours: Collection[str]) -> Restored:
    """Return a client's messages with the stored turns in place of its copies; `ours` are the names of our tools.

    A copy that differs from every stored turn becomes text, and so does a call of our tools that is not stored: the
    model gets only calls that it made. Calls of other providers stay as they are.
    """
    out: list[Message] = []
    starts: list[tuple[int, str]] = []
    place = 0
    while place < len(messages):
        message, place = messages[place], place + 1
        if not (isinstance(message, AssistantMessage) and message.calls):
            out.append(message)
            continue
        results: list[ToolMessage] = []
        while place < len(messages) and isinstance(result := messages[place], ToolMessage):
            results.append(result)
            place += 1
        run_id = _run_of(message)
        turns = stored.get(run_id) if run_id else None
        if run_id and turns and _is_copy(message, turns):
            starts.append((len(out), run_id))
            out += [*turns, *_own_results(results, turns)]
        elif any(handle_in(call.id) or call.name in ours for call in message.calls):
            out += _in_words(message, results)
        else:
            out += [message, *results]
    return _with_open_loop(out, starts, stored)


def _with_open_loop(out: list[Message], starts: Sequence[tuple[int, str]], stored: StoredTurns) -> Restored:
    """Find the tool loop that the next turn continues: it begins behind the last message of the user."""
    asked = max((at for at, message in enumerate(out) if isinstance(message, UserMessage)), default=-1)
    within = [(at, run_id) for at, run_id in starts if at > asked]
    if not within:
        return Restored(out)
    used = [run_id for _, run_id in within if any(isinstance(turn, ToolMessage) for turn in stored[run_id])]
    return Restored(out, len(out) - within[0][0], tuple(used))


def _run_of(copy: AssistantMessage) -> str | None:
    """Return the one run that all calls of a copy name, None if they name several or none."""
    named = {handle.run_id if (handle := handle_in(call.id)) else None for call in copy.calls}
    return named.pop() if len(named) == 1 else None


def _is_copy(copy: AssistantMessage, turns: Sequence[Message]) -> bool:
    """Whether a client's turn has the calls that were handed to it, and the text unless it was left out."""
    if copy.content.strip() and words_of(copy.content) != words_of(_text_of(turns)):
        return False
    handed = {call.id: (call.name, call.arguments) for call in _handed(turns)}
    copied = {handle.call_id: call for call in copy.calls if (handle := handle_in(call.id))}
    # JSON numbers may have been written anew: JavaScript knows no difference between 1.0 and 1.
    return len(copy.calls) == len(copied) and handed == {
        call_id: (call.name, call.arguments) for call_id, call in copied.items() if call.raw is None
    }


def _handed(turns: Sequence[Message]) -> list[ToolCall]:
    """Return the calls of stored turns that have no result there: those that were handed to the client."""
    answered = {turn.call_id for turn in turns if isinstance(turn, ToolMessage)}
    calls = (call for turn in turns if isinstance(turn, AssistantMessage) for call in turn.calls)
    return [call for call in calls if call.id not in answered]


def _text_of(turns: Sequence[Message]) -> str:
    """Return the text of a run as a client received it: that of all steps."""
    return "\n\n".join(turn.content for turn in turns if isinstance(turn, AssistantMessage) and turn.content.strip())


def _own_results(results: Sequence[ToolMessage], turns: Sequence[Message]) -> list[ToolMessage]:
    """Return a client's results under our ids and names; they are untrusted."""
    names = {call.id: call.name for call in _handed(turns)}
    found = [(result, handle.call_id) for result in results if (handle := handle_in(result.call_id))]
    return [
        replace(result, call_id=call_id, name=names[call_id], untrusted=True)
        for result, call_id in found
        if call_id in names
    ]


def _in_words(message: AssistantMessage, results: Sequence[ToolMessage]) -> list[Message]:
    """Tell a turn in words, with its results delimited as untrusted content."""
    foreign = [replace(result, untrusted=True) for result in results]
    return [told for exchange in exchanges([message, *foreign], 1) for told in as_text(exchange)]
