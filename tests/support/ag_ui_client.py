"""The state of an AG-UI client after a stream: as strict as `verifyEvents` and `defaultApplyEvents` of @ag-ui/client.

`tests/clients/node/ag_ui.mjs` reads the same streams with the real one.
"""

import json
from typing import Any

Json = dict[str, Any]
_OPTIONAL_ANYTHING = ("value", "snapshot", "delta", "result")


def events_in(stream: bytes) -> list[Json]:
    """Return the events of a stream: one JSON object per frame, and nothing that ends a run with an exception."""
    assert b"\r" not in stream
    frames = stream.decode().split("\n\n")
    assert frames.pop() == ""
    assert all(frame.startswith(("data: {", ":")) and "\n" not in frame for frame in frames)
    return [json.loads(frame.removeprefix("data: ")) for frame in frames if not frame.startswith(":")]


class AgUiReader:
    """Builds messages and state from events; raises AssertionError where the client throws."""

    def __init__(self, messages: list[Json] | None = None, state: Any = None) -> None:
        self.messages = messages if messages is not None else []
        self.state: Any = {} if state is None else state
        self.custom: list[tuple[str, Json]] = []
        self.steps: list[str] = []
        self.last: Json = {}
        self._open: set[tuple[str, str]] = set()
        self._started: list[str] = []
        self._is_started = False

    def read_stream(self, stream: bytes) -> "AgUiReader":
        """Read a whole stream."""
        for event in events_in(stream):
            self._read(event)
        assert self.last["type"] in ("RUN_FINISHED", "RUN_ERROR")
        assert not self._open, f"not ended: {self._open}"
        return self

    def of_role(self, role: str) -> list[Json]:
        """Return the messages of a role."""
        return [message for message in self.messages if message["role"] == role]

    @property
    def text(self) -> str:
        """The texts of the answer, joined."""
        return "".join(message["content"] for message in self.of_role("assistant"))

    @property
    def calls(self) -> dict[str, Json]:
        """The calls by id: name, arguments and, if there is one, the result."""
        results = {message["toolCallId"]: message["content"] for message in self.of_role("tool")}
        calls = [call for message in self.of_role("assistant") for call in message["toolCalls"]]
        return {call["id"]: {**call["function"], **_result(results, call["id"])} for call in calls}

    @property
    def pending(self) -> list[str]:
        """The calls that the client executes now."""
        named = self.last.get("outcome", {}).get("pendingToolCallIds")
        answered = {message["toolCallId"] for message in self.of_role("tool")}
        derived = [call_id for call_id in self._started if call_id not in answered]
        assert not named or named == derived
        return derived

    def _read(self, event: Json) -> None:
        assert self.last.get("type") not in ("RUN_FINISHED", "RUN_ERROR"), "an event behind the end"
        assert all(value is not None for name, value in event.items() if name not in _OPTIONAL_ANYTHING), event
        self.last = event
        kind: str = event["type"]
        assert self._is_started == (kind != "RUN_STARTED")
        match kind.rpartition("_"):
            case ("RUN", _, "STARTED"):
                self._is_started = True
            case ("RUN", _, _):
                assert kind == "RUN_ERROR" or not self._open, self._open
            case ("STEP", _, end):
                self._bracket("step", event["stepName"], is_start=end == "STARTED")
                self.steps += [event["stepName"]] if end == "STARTED" else []
            case ("TEXT_MESSAGE" | "REASONING_MESSAGE" | "REASONING", _, end):
                self._read_message(event, kind.removesuffix(f"_{end}"), end)
            case ("TOOL_CALL", _, end):
                self._read_call(event, end)
            case ("STATE", _, "SNAPSHOT"):
                self.state = event["snapshot"]
            case ("STATE", _, "DELTA"):
                [operation] = event["delta"]
                assert (operation["op"], operation["path"]) == ("add", "/signalbox")
                self.state = {**self.state, "signalbox": operation["value"]}
            case _:
                assert kind == "CUSTOM", kind
                self.custom.append((event["name"], event["value"]))

    def _bracket(self, kind: str, name: str, *, is_start: bool) -> None:
        assert ((kind, name) in self._open) != is_start, (kind, name)
        self._open ^= {(kind, name)}

    def _read_message(self, event: Json, kind: str, end: str) -> None:
        message_id = event["messageId"]
        if end != "CONTENT":
            self._bracket(kind, message_id, is_start=end == "START")
        if kind == "REASONING":
            return
        message = next((one for one in self.messages if one["id"] == message_id), None)
        if end == "START":
            assert event["role"] == ("assistant" if kind == "TEXT_MESSAGE" else "reasoning")
            if message is None:
                self._add(message_id, event["role"])
        elif end == "CONTENT":
            assert (kind, message_id) in self._open
            assert event["delta"], "clients before 1.0 reject an empty piece"
            assert message is not None
            message["content"] += event["delta"]

    def _add(self, message_id: str, role: str) -> Json:
        message: Json = {"id": message_id, "role": role, "content": "", "toolCalls": []}
        self.messages.append(message)
        return message

    def _read_call(self, event: Json, end: str) -> None:
        call_id = event["toolCallId"]
        if end == "RESULT":
            assert ("call", call_id) not in self._open
            assert call_id in self._started
            self.messages.append({"id": event["messageId"], "role": "tool", **_tool_fields(event)})
        elif end == "ARGS":
            assert ("call", call_id) in self._open
            [call] = [
                one for message in self.of_role("assistant") for one in message["toolCalls"] if one["id"] == call_id
            ]
            call["function"]["arguments"] += event["delta"]
        else:
            self._bracket("call", call_id, is_start=end == "START")
        if end == "START":
            assert call_id not in self._started
            self._started.append(call_id)
            owner = next((one for one in self.messages if one["id"] == event["parentMessageId"]), None)
            owner = self._add(event["parentMessageId"], "assistant") if owner is None else owner
            function = {"name": event["toolCallName"], "arguments": ""}
            owner["toolCalls"].append({"id": call_id, "type": "function", "function": function})


def _result(results: Json, call_id: str) -> Json:
    return {"result": results[call_id]} if call_id in results else {}


def _tool_fields(event: Json) -> Json:
    assert isinstance(event["content"], str)
    return {"toolCallId": event["toolCallId"], "content": event["content"]}
