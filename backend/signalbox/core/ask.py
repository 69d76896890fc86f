"""A client's request, independent of its protocol."""

from msgspec import Struct

from signalbox.core.messages import JsonObject, Message, SystemMessage
from signalbox.core.params import NO_PARAMS, Choice, Params, StreamedArguments
from signalbox.core.parts import ToolSchema
from signalbox.core.records import V1
from signalbox.core.tools import Tool


class AskedLimits(Struct, frozen=True):
    """The limits that a client sets for its run; None leaves a limit to the server. `max_cost` is in USD."""

    max_steps: int | None = None
    max_searches: int | None = None
    max_cost: float | None = None


class Position(Struct, frozen=True):
    """The position of a request in its conversation.

    `parent_id` is the message that it follows, None for the start of a new branch. With `follows_newest` it follows the
    newest message instead. `continues`: the request continues the answer `parent_id`, without a new message.

    `message_ids` are the client's ids of the messages, for a client that sends messages again which it has sent before:
    those that are stored already are not stored again. `parent_id` is then the answer before these messages.

    `follows_answer`: if `parent_id` is a run, the request follows the end of its answer, which other runs and results
    of the client's tools may have continued.

    `switches_branch`: the newest branch that contains `parent_id` becomes the current one, and no run starts.
    """

    conversation_id: str
    parent_id: str | None = None
    follows_newest: bool = False
    continues: bool = False
    message_ids: tuple[str, ...] = ()
    follows_answer: bool = False
    switches_branch: bool = False


class Ask(Struct, frozen=True, kw_only=True):
    """One complete request. An intake creates it from a client's JSON, which no later layer reads.

    `system` are instructions that the client sends beside its `messages`. `tools` are the tools of this server that the
    model is offered. `client_tools` are the client's: their calls are handed to it (decision 0078).
    `is_detached`: the run outlives its last subscriber. `question` is the request as a client of contract v1.1 wrote
    it, empty from any other: then it is derived (`intakes/v1_question.py`).

    `protocol` names the row in `app/protocols.py`, and `echo` is what its encoder needs of the request; both are stored
    with the run. `streamed_arguments`: whose calls show their arguments while the model writes them.
    `emits_logprobs`: the run emits the log probabilities that the model is asked for.
    `collects_results`: the client sends the result of each of its tools when it has it; the model goes on after the
    last one.
    """

    model: str
    messages: tuple[Message, ...]
    system: str | None = None
    params: Params = NO_PARAMS
    tools: tuple[Tool, ...] = ()
    client_tools: tuple[ToolSchema, ...] = ()
    choice: Choice | None = None
    finalize_hint: str = ""
    limits: AskedLimits = AskedLimits()
    position: Position | None = None
    is_detached: bool = False
    question: JsonObject = {}
    protocol: str = V1
    echo: JsonObject = {}
    streamed_arguments: StreamedArguments = "none"
    emits_logprobs: bool = False
    collects_results: bool = False

    @property
    def conversation(self) -> list[Message]:
        """The messages, preceded by the system message if there is one."""
        return [SystemMessage(self.system), *self.messages] if self.system else [*self.messages]
