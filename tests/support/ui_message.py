"""The state of an AI SDK client after a stream: as strict as `processUIMessageStream` of the `ai` package.

tests/clients/ai_sdk_streams.py reads the same streams with the real one.
"""

import json
from typing import Any

Json = dict[str, Any]
# The types that version 5 knows; later ones know them, too.
_TYPES = {
    *("start", "start-step", "finish-step", "finish", "abort", "error", "message-metadata", "file", "source-url"),
    *("text-start", "text-delta", "text-end", "reasoning-start", "reasoning-delta", "reasoning-end"),
    *("tool-input-start", "tool-input-delta", "tool-input-available", "tool-input-error"),
    *("tool-output-available", "tool-output-error", "data-warning", "data-tool-status"),
}
_FINISH = {"stop", "length", "content-filter", "tool-calls", "error", "other"}


def chunks_in(stream: bytes) -> list[Json]:
    """Return the chunks of a stream, which ends with `[DONE]`."""
    frames = stream.decode().split("\n\n")
    assert frames[-2:] == ["data: [DONE]", ""], frames[-2:]
    assert all(frame.startswith(("data: {", ":")) for frame in frames[:-2])
    return [json.loads(frame.removeprefix("data: ")) for frame in frames[:-2] if not frame.startswith(":")]


class UiMessageReader:
    """Builds the message from chunks; raises AssertionError where the client throws."""

    def __init__(self) -> None:
        self.id = ""
        self.metadata: Json = {}
        self.parts: list[Json] = []
        self.transient: list[Json] = []
        self.error: str | None = None
        self.is_aborted = False
        self.finish_reason: str | None = None
        self._open: dict[tuple[str, str], Json] = {}
        self._steps = 0

    def read_stream(self, stream: bytes) -> "UiMessageReader":
        """Read a whole stream."""
        for chunk in chunks_in(stream):
            self._read(chunk)
        assert not self._open, f"parts that are not ended: {self._open}"
        assert self._steps == 0, "steps are not balanced"
        assert self.finish_reason is not None
        assert all(part["state"] != "input-streaming" for part in self.tools), self.tools
        return self

    @property
    def tools(self) -> list[Json]:
        """The parts of tool calls."""
        return [part for part in self.parts if "toolCallId" in part]

    def text_of(self, kind: str) -> str:
        """Return the joined texts of parts of a type."""
        return "".join(part["text"] for part in self.parts if part["type"] == kind)

    def _read(self, chunk: Json) -> None:
        kind = chunk["type"]
        assert kind in _TYPES, kind
        assert None not in [value for name, value in chunk.items() if name not in ("input", "output")], chunk
        match kind.rpartition("-"):
            case ("text" | "reasoning" as part_kind, _, "start"):
                part: Json = {"type": part_kind, "text": ""}
                self._open[part_kind, chunk["id"]] = part
                self.parts.append(part)
            case ("text" | "reasoning" as part_kind, _, "delta"):
                self._open[part_kind, chunk["id"]]["text"] += chunk["delta"]
            case ("text" | "reasoning" as part_kind, _, "end"):
                del self._open[part_kind, chunk["id"]]
            case ("tool-input" | "tool-output", _, _):
                self._read_tool(chunk)
            case _:
                self._read_other(chunk)

    def _read_tool(self, chunk: Json) -> None:
        known = next((part for part in self.tools if part["toolCallId"] == chunk["toolCallId"]), None)
        if known is None:
            assert chunk["type"] in ("tool-input-start", "tool-input-available"), chunk
            known = {"toolCallId": chunk["toolCallId"], "toolName": chunk["toolName"], "text": ""}
            known["type"] = "dynamic-tool" if chunk.get("dynamic") else f"tool-{chunk['toolName']}"
            self.parts.append(known)
        known["providerExecuted"] = chunk.get("providerExecuted", known.get("providerExecuted", False))
        match chunk["type"]:
            case "tool-input-start":
                known["state"] = "input-streaming"
            case "tool-input-delta":
                assert known["state"] == "input-streaming"
                known["text"] += chunk["inputTextDelta"]
            case "tool-input-available":
                known |= {"state": "input-available", "input": chunk["input"]}
            case "tool-input-error":
                known |= {"state": "output-error", "input": chunk["input"], "errorText": chunk["errorText"]}
            case "tool-output-available":
                known |= {"state": "output-available", "output": chunk["output"]}
            case _:
                known |= {"state": "output-error", "errorText": chunk["errorText"]}

    def _read_other(self, chunk: Json) -> None:
        match chunk["type"]:
            case "start":
                self.id = chunk["messageId"]
                self._merge(chunk["messageMetadata"])
            case "message-metadata":
                self._merge(chunk["messageMetadata"])
            case "start-step":
                self._steps += 1
                self.parts.append({"type": "step-start"})
            case "finish-step":
                self._steps -= 1
                assert self._steps == 0, "a step ends that did not start"
            case "abort":
                self.is_aborted = True
            case "error":
                assert self._steps == 0
                assert not self._open, "the client reads nothing behind an error"
                self.error = chunk["errorText"]
            case "finish":
                assert chunk["finishReason"] in _FINISH
                self.finish_reason = chunk["finishReason"]
            case _:
                (self.transient if chunk.get("transient") else self.parts).append(chunk)

    def _merge(self, metadata: Json) -> None:
        for run_id, facts in metadata["runs"].items():
            self.metadata.setdefault(run_id, {}).update(facts)
