"""The tool calls of one run as chunks of the AI SDK's UI message stream.

Calls of our tools are dynamic and executed by the provider: otherwise the client would execute them, or post its chat
again when they have their outputs.
"""

from collections.abc import Iterator, Sequence

import orjson
from msgspec import UNSET

from signalbox.core.codes import CODES, Code
from signalbox.core.events import ArgumentsDelta, Call, Success, ToolCalls, ToolResult
from signalbox.core.handed_calls import handed_id
from signalbox.core.messages import JsonObject, JsonValue

_OURS: JsonObject = {"dynamic": True, "providerExecuted": True}
_EXECUTED: JsonObject = {"providerExecuted": True}


class UiCalls:
    """Follows the calls of a run. `client_tools` are the names of the tools that the client executes.

    The client executes a call as soon as its input is available, so that is sent only once the call is handed over.
    """

    def __init__(self, run_id: str, client_tools: frozenset[str]) -> None:
        self._run_id = run_id
        self._client_tools = client_tools
        self._streamed: dict[str, str] = {}
        self._announced: dict[str, Call] = {}

    @property
    def are_open(self) -> bool:
        """Whether a call has no result yet."""
        return bool(self._announced)

    def id_of(self, call_id: str, name: str) -> str:
        """Return the id of a call in the client; a call of its tools names the run, to which the result belongs."""
        return handed_id(self._run_id, call_id) if name in self._client_tools else call_id

    def _kind_of(self, name: str) -> JsonObject:
        return {} if name in self._client_tools else _OURS

    def delta(self, event: ArgumentsDelta) -> Iterator[JsonObject]:
        """Show a piece of the arguments."""
        call_id = self.id_of(event.id, event.name)
        if event.id not in self._streamed:
            self._streamed[event.id] = event.name
            start: JsonObject = {"type": "tool-input-start", "toolCallId": call_id, "toolName": event.name}
            yield start | self._kind_of(event.name)
        yield {"type": "tool-input-delta", "toolCallId": call_id, "inputTextDelta": event.arguments}

    def announce(self, event: ToolCalls) -> Iterator[JsonObject]:
        """Show the whole arguments of our tools."""
        for call in event.calls:
            self._streamed.pop(call.id, None)
            self._announced[call.id] = call
            if call.name not in self._client_tools:
                yield self._available(call) | _OURS

    def _available(self, call: Call) -> JsonObject:
        call_id = self.id_of(call.id, call.name)
        return {
            "type": "tool-input-available",
            "toolCallId": call_id,
            "toolName": call.name,
            "input": _input_of(call),
        }

    def result(self, event: ToolResult) -> Iterator[JsonObject]:
        """Show a result, or what it has for people. A client's call gets one only if it could not be handed over."""
        call = self._announced.pop(event.id)
        if call.name in self._client_tools:
            yield self._available(call) | _EXECUTED
        shown: JsonObject = {"toolCallId": self.id_of(call.id, call.name), **(self._kind_of(call.name) or _EXECUTED)}
        outcome = event.outcome
        if isinstance(outcome, Success):
            output = outcome.result if event.artifact is UNSET else event.artifact
            yield {"type": "tool-output-available", **shown, "output": output}
        else:
            yield {"type": "tool-output-error", **shown, "errorText": outcome.error}

    def hand_over(self, handed: Sequence[str], *, are_executed: bool) -> Iterator[JsonObject]:
        """Give the client its calls; it does not execute calls that are marked as executed."""
        for call_id in handed:
            yield self._available(self._announced.pop(call_id)) | (_EXECUTED if are_executed else {})

    def abandon(self) -> Iterator[JsonObject]:
        """End calls whose arguments broke off, or which another attempt made anew."""
        for call_id, name in self._streamed.items():
            yield {
                "type": "tool-input-error",
                "toolCallId": self.id_of(call_id, name),
                "toolName": name,
                "input": None,
                "errorText": CODES[Code.STEP_FAILED].sentence,
                **(self._kind_of(name) or _EXECUTED),
            }
        self._streamed = {}


def _input_of(call: Call) -> JsonValue:
    """Return the arguments of a call; if the model sent no JSON, the text that it sent."""
    try:
        return orjson.loads(call.arguments)
    except orjson.JSONDecodeError:
        return call.arguments
