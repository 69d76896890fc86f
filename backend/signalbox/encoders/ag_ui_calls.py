"""The tool calls of one run as events of AG-UI.

The client executes every call that has no result when the run ends. A call that was begun and then dropped therefore
gets a result, too.
"""

from collections.abc import Generator, Iterator, Sequence
from typing import cast

from msgspec import UNSET, to_builtins

from signalbox.core.codes import CODES, Code
from signalbox.core.events import ArgumentsDelta, Call, Success, ToolExecuting, ToolResult
from signalbox.core.handed_calls import handed_id
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.wire.json_text import dumps


class AgUiCalls:
    """Follows the calls of a run. `client_tools` are the names of the tools that the client executes."""

    def __init__(self, run_id: str, client_tools: frozenset[str]) -> None:
        self._run_id = run_id
        self._client_tools = client_tools
        self._streamed: dict[str, str] = {}  # names of calls that are not announced yet
        self._announced: dict[str, Call] = {}
        self._executing: set[str] = set()
        self._started: list[str] = []
        self._results = 0

    def _id_of(self, call_id: str, name: str) -> str:
        """Return the id of a call in the client; that of a client's tool names the run, so that its result finds it."""
        return handed_id(self._run_id, call_id) if name in self._client_tools else call_id

    def _start(self, call_id: str, name: str, message_id: str) -> JsonObject:
        self._started.append(call_id)
        return {
            "type": "TOOL_CALL_START",
            "toolCallId": self._id_of(call_id, name),
            "toolCallName": name,
            "parentMessageId": message_id,
        }

    def _end(self, call_id: str, name: str) -> JsonObject:
        return {"type": "TOOL_CALL_END", "toolCallId": self._id_of(call_id, name)}

    def delta(self, event: ArgumentsDelta, message_id: str) -> Iterator[JsonObject]:
        """Show a piece of the arguments of a client's call. Those of our tools may turn out otherwise."""
        if event.name not in self._client_tools:
            return
        if event.id not in self._streamed:
            self._streamed[event.id] = event.name
            yield self._start(event.id, event.name, message_id)
        yield {
            "type": "TOOL_CALL_ARGS",
            "toolCallId": self._id_of(event.id, event.name),
            "delta": event.arguments,
        }

    def announce(self, calls: Sequence[Call], message_id: str) -> Iterator[JsonObject]:
        """Show whole calls. A call of the client's tools ends once it is handed over, or has a result."""
        for call in calls:
            self._announced[call.id] = call
            if self._streamed.pop(call.id, None) is None:
                yield self._start(call.id, call.name, message_id)
                if call.arguments:
                    call_id = self._id_of(call.id, call.name)
                    yield {"type": "TOOL_CALL_ARGS", "toolCallId": call_id, "delta": call.arguments}
            if call.name not in self._client_tools:
                yield self._end(call.id, call.name)

    def execute(self, event: ToolExecuting) -> Iterator[JsonObject]:
        """Begin the step in which a call is executed."""
        self._executing.add(event.id)
        yield {"type": "STEP_STARTED", "stepName": f"tool:{event.id}"}

    def result(self, event: ToolResult) -> Iterator[JsonObject]:
        """Show a result, or what it has for people. A client's call gets one only if it could not be handed over."""
        call = self._announced.pop(event.id)
        if call.name in self._client_tools:
            yield self._end(call.id, call.name)
        if call.id in self._executing:
            self._executing.remove(call.id)
            yield {"type": "STEP_FINISHED", "stepName": f"tool:{call.id}"}
        outcome = event.outcome
        if isinstance(outcome, Success):
            shown = outcome.result if event.artifact is UNSET else event.artifact
            yield self._result(call.id, call.name, cast(JsonValue, to_builtins(shown)))
        else:
            yield self._result(call.id, call.name, {"error": outcome.error, "code": outcome.code})

    def _result(self, call_id: str, name: str, content: JsonValue) -> JsonObject:
        self._results += 1
        return {
            "type": "TOOL_CALL_RESULT",
            "messageId": f"{self._run_id}.t{self._results}",
            "toolCallId": self._id_of(call_id, name),
            "role": "tool",
            "content": content if isinstance(content, str) else dumps(content).decode(),
        }

    def hand_over(self, handed: Sequence[str]) -> Generator[JsonObject, None, list[str]]:
        """Give the client its calls; return their ids, in the order in which the client has seen them."""
        ids: list[str] = []
        for call_id in sorted(handed, key=self._started.index):
            call = self._announced.pop(call_id)
            ids.append(self._id_of(call.id, call.name))
            yield self._end(call.id, call.name)
        return ids

    def abandon(self) -> Iterator[JsonObject]:
        """End calls whose arguments broke off, or which another attempt made anew."""
        for call_id, name in self._streamed.items():
            yield self._end(call_id, name)
            yield self._result(call_id, name, {"error": CODES[Code.STEP_FAILED].sentence, "code": Code.STEP_FAILED})
        self._streamed = {}
