"""Places results that a client sends without the calls: their ids name the run that handed these over."""

from collections.abc import Sequence
from itertools import takewhile
from typing import cast

from msgspec.structs import replace

from signalbox.conversations.question_path import FullHistory, PathFinder
from signalbox.conversations.restored_turns import handed_in
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.handed_calls import handed_id, handle_in, no_results
from signalbox.core.messages import Message, ToolMessage


def after_their_run(sent: Sequence[Message], finder: PathFinder, first: int) -> FullHistory:
    """Return messages that begin with results as the history that follows the run of their calls.

    `first` is the place of the first message in the request. Raises RequestError for a result of another call, and for
    a call without a result, unless the user goes on without it.
    """
    results = cast("list[ToolMessage]", [*takewhile(lambda message: isinstance(message, ToolMessage), sent)])
    handle = handle_in(results[0].call_id)
    run_id = handle.run_id if handle else ""
    turns = finder.stored.get(run_id, ()) if run_id in finder.tree.nodes else ()
    names = {handed_id(run_id, call.id): call.name for call in handed_in(turns)}
    for place, result in enumerate(results, first):
        if result.call_id not in names:
            words = "No run of this conversation handed over a tool call with this id; send the assistant message, too."
            raise RequestError(Code.INVALID_REQUEST, words, f"messages.{place}.tool_call_id")
    missing = names.keys() - {result.call_id for result in results}
    if missing and len(results) == len(sent):
        raise no_results(missing, f"messages.{first + len(results) - 1}")
    named = [replace(result, name=names[result.call_id]) for result in results]
    return FullHistory((*named, *sent[len(results) :]), run_id)
