"""What a client makes of the events of a run: the messages that it sends with the next question."""

from typing import Any

Message = dict[str, Any]


def user(text: str) -> Message:
    """Return a user message."""
    return {"role": "user", "content": text}


class Transcript:
    """Builds OpenAI messages from a run's events; calls whose results never arrived have no result message."""

    def __init__(self) -> None:
        self._turns: list[Message] = []
        self._results: dict[str, Message] = {}
        self._step: object = None

    def add(self, event: dict[str, Any]) -> None:
        """Add one event."""
        match event["type"]:
            case "content" if not event.get("synthetic"):
                if not self._turns or self._turns[-1]["tool_calls"]:
                    self._begin()
                self._turns[-1]["content"] += event["content"]
            case "reasoning":
                if not self._turns or self._turns[-1]["tool_calls"]:
                    self._begin()
                self._turns[-1]["reasoning"] += event["content"]
            case "tool_calls":
                self._call(event)
            case "tool_result":
                self._results[event["id"]] = {
                    "role": "tool", "tool_call_id": event["id"], "content": str(event["result"]),
                }  # fmt: skip
            case _:
                pass

    def messages(self) -> list[Message]:
        """Return the messages, each assistant message followed by the results of its calls."""
        out: list[Message] = []
        for turn in self._turns:
            calls = turn["tool_calls"]
            said = {name: value for name, value in turn.items() if value or name == "role"}
            if turn["reasoning"]:  # a client that keeps reasoning; the server must not trust it
                said["reasoning_details"] = [{"type": "reasoning.text", "text": turn["reasoning"], "signature": "x"}]
            out += [{"content": None, **said}]
            out += [self._results[call["id"]] for call in calls if call["id"] in self._results]
        return out

    def _call(self, event: dict[str, Any]) -> None:
        step = event.get("step")
        if not self._turns or (self._turns[-1]["tool_calls"] and step != self._step):
            self._begin()
        self._step = step
        for call in event["calls"]:
            function = {"name": call["name"], "arguments": call["arguments"]}
            self._turns[-1]["tool_calls"].append({"id": call["id"], "type": "function", "function": function})

    def _begin(self) -> None:
        self._turns.append({"role": "assistant", "content": "", "reasoning": "", "tool_calls": []})


def transcript_of(events: list[dict[str, Any]]) -> list[Message]:
    """Return the messages that a client keeps of a run."""
    transcript = Transcript()
    for event in events:
        transcript.add(event)
    return transcript.messages()
