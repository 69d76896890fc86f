"""Replaces a stateless client's copies of earlier turns by the turns that were stored with their runs.

A client has the calls that were handed to it under ids that name their run. Its copy of such a turn lacks the
reasoning, its signatures, and the calls and results of our tools, which some providers require back.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from signalbox.chat.history.message_order import as_text
from signalbox.chat.history.tool_pairing import exchanges
from signalbox.conversations.turns import words_of
from signalbox.core.handed_calls import handle_in
from signalbox.core.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage

StoredTurns = Mapping[str, Sequence[Message]]
"""The turns of the caller's finished runs, by run id."""


class Restored(Struct, frozen=True):
    """A conversation with its stored turns.

    `open_loop` is how many of the messages, the last ones, belong to the open tool loop. `runs` are the runs behind the
    user's last message whose tools have returned something.
    """

    messages: list[Message]
    open_loop: int = 0
    runs: tuple[str, ...] = ()


def runs_named_in(messages: Iterable[Message]) -> list[str]:
    """Return the ids of the runs whose calls, or results of them, a client sends back."""
    ids = (call_id for message in messages for call_id in _call_ids_in(message))
    return [*dict.fromkeys(handle.run_id for call_id in ids if (handle := handle_in(call_id)))]


def _call_ids_in(message: Message) -> list[str]:
    match message:
        case AssistantMessage(calls=calls):
            return [call.id for call in calls]
        case ToolMessage(call_id=call_id):
            return [call_id]
        case _:
            return []


def restored(messages: Sequence[Message], stored: StoredTurns, ours: Collection[str]) -> Restored:
    """Return messages with the stored turns in place of a client's copies; `ours` are the names of our tools.

    A copy that differs from every stored turn becomes text, and so does a call of our tools that is not stored: the
    model gets only calls that it made. Calls of other providers stay as they are.
    """
    out: list[Message] = []
    used: list[str] = []
    for head, results in _with_results(messages):
        named = runs_named_in([head])
        known = [run_id for run_id in named if run_id in stored]
        used = [] if isinstance(head, UserMessage) else [*used, *known]
        if not isinstance(head, AssistantMessage):
            out += [head, *results]
        elif len(named) == len(known) == 1 and is_copy(head, stored[named[0]]):
            turns = stored[named[0]]
            out += [*turns, *_own_results(results, turns)]
        elif named or any(call.name in ours for call in head.calls):
            out += _in_words(head, results, [turn for run_id in known for turn in stored[run_id]])
        else:
            out += [head, *_own_results(results, [head, *results])]
    runs = [run_id for run_id in dict.fromkeys(used) if any(isinstance(turn, ToolMessage) for turn in stored[run_id])]
    return Restored(out, _open_loop(out), tuple(runs))


def _with_results(messages: Sequence[Message]) -> Iterator[tuple[Message, list[ToolMessage]]]:
    """Yield each message with the results that follow it."""
    place = 0
    while place < len(messages):
        head, place = messages[place], place + 1
        results: list[ToolMessage] = []
        while place < len(messages) and isinstance(result := messages[place], ToolMessage):
            results.append(result)
            place += 1
        yield head, results


def _open_loop(messages: Sequence[Message]) -> int:
    """Count the messages of the tool loop that the next turn continues: it begins behind the user's last message."""
    if not messages or not isinstance(messages[-1], ToolMessage):
        return 0
    asked = max((at for at, message in enumerate(messages) if isinstance(message, UserMessage)), default=-1)
    return len(messages) - 1 - asked


def is_copy(copy: AssistantMessage, turns: Sequence[Message]) -> bool:
    """Whether a client's turn has the calls that were handed to it, and the text unless it was left out."""
    if copy.content.strip() and words_of(copy.content) != words_of(_text_of(turns)):
        return False
    calls = {call.id: (call.name, call.arguments) for call in handed_in(turns)}
    copied = {handle.call_id: call for call in copy.calls if (handle := handle_in(call.id))}
    # JSON numbers may have been written anew: JavaScript knows no difference between 1.0 and 1.
    return len(copy.calls) == len(copied) and calls == {
        call_id: (call.name, call.arguments) for call_id, call in copied.items() if call.raw is None
    }


def handed_in(turns: Sequence[Message]) -> list[ToolCall]:
    """Return the calls of stored turns that have no result there: those that were handed to the client."""
    answered = {turn.call_id for turn in turns if isinstance(turn, ToolMessage)}
    return [call for call in _calls_in(turns) if call.id not in answered]


def _calls_in(turns: Iterable[Message]) -> Iterator[ToolCall]:
    return (call for turn in turns if isinstance(turn, AssistantMessage) for call in turn.calls)


def _text_of(turns: Sequence[Message]) -> str:
    """Return the text of a run as a client received it: that of all steps."""
    return "\n\n".join(turn.content for turn in turns if isinstance(turn, AssistantMessage) and turn.content.strip())


def _own_results(results: Sequence[ToolMessage], turns: Sequence[Message]) -> Iterator[ToolMessage]:
    """Yield results of handed calls under our ids and names, as untrusted ones; other results stay as they are."""
    names = {call.id: call.name for call in handed_in(turns)}
    for result in results:
        handle = handle_in(result.call_id)
        if handle is None:
            yield result
        elif handle.call_id in names:
            yield replace(result, call_id=handle.call_id, name=names[handle.call_id], untrusted=True)


def _in_words(head: AssistantMessage, results: Sequence[ToolMessage], stored: Sequence[Message]) -> list[Message]:
    """Tell a client's turn in words, with its results as untrusted content, and those that are stored with it.

    A run that was cut off has a result for each call; if the client has executed one of them, its result counts.
    """
    sent = {handle.call_id for result in results if (handle := handle_in(result.call_id))}
    ours = [turn for turn in stored if isinstance(turn, ToolMessage) and turn.call_id not in sent]
    answered = {result.call_id for result in ours}
    calls = [call for call in _calls_in(stored) if call.id in answered]
    told = replace(head, calls=(*calls, *head.calls))
    foreign = [replace(result, untrusted=True) for result in results]
    return [one for exchange in exchanges([told, *ours, *foreign], 1) for one in as_text(exchange)]
