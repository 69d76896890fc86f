"""The content blocks of one answer, put together from their deltas."""

from msgspec import Struct

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.wire.json_text import loads

# Tools that the API itself executes; their results are further blocks of the same answer.
SERVER_TOOLS = ("server_tool_use", "mcp_tool_use")
_NO_RESULT = ("text", "thinking", "redacted_thinking", "tool_use", *SERVER_TOOLS)


class Block(Struct, eq=False):
    """One content block; `slot` is its position in the answer, `start` the offset of its text in the answer's text.

    `item` is the block as its first event contains it. The deltas are stored as pieces and joined once.
    """

    slot: int
    item: JsonObject
    start: int = 0
    pieces: dict[str, list[str]] = {}
    citations: list[JsonValue] = []

    @property
    def kind(self) -> JsonValue:
        """The type of the block."""
        return self.item.get("type")

    def add(self, delta: JsonObject) -> None:
        """Store a delta. Text continues the field of the same name; any other value replaces it.

        This also covers delta types that are not known here: `compaction_delta` has the field `content`.
        """
        for name, value in delta.items():
            if name == "type":
                continue
            if isinstance(value, str):
                self.pieces.setdefault(name, []).append(value)
            elif name == "citation":
                self.citations.append(value)
            else:
                self.item[name] = value

    def text_of(self, name: str) -> str:
        """Return what the deltas of a field add up to."""
        return "".join(self.pieces.get(name, ()))

    @property
    def end(self) -> int:
        """Where its text ends in the answer's text."""
        if self.kind != "text":
            return self.start
        given = self.item.get("text")
        return self.start + (len(given) if isinstance(given, str) else 0) + sum(map(len, self.pieces.get("text", ())))

    @property
    def input_text(self) -> str:
        """The text of a call's arguments, empty if they were in the first event."""
        return self.text_of("partial_json")

    @property
    def whole_input(self) -> JsonObject | None:
        """The arguments of a call that were complete in its first event: some proxies send no deltas."""
        given = self.item.get("input")
        return given if isinstance(given, dict) and given and not self.input_text.strip() else None

    def finished(self) -> JsonObject:
        """Return the block as a request sends it back: the provider's keys in the provider's order."""
        item = dict(self.item)
        for name in self.pieces:
            if name != "partial_json":
                before = item.get(name)
                item[name] = (before if isinstance(before, str) else "") + self.text_of(name)
        if self.citations:
            before = item.get("citations")
            item["citations"] = [*(before if isinstance(before, list) else ()), *self.citations]
        if isinstance(written := _parsed(self.input_text), dict):
            item["input"] = written
        return item

    def server_call(self) -> JsonObject:
        """Describe a call of a tool that the API executes."""
        text, arguments = self.input_text, _parsed(self.input_text)
        status = "ok" if isinstance(arguments, dict) else "invalid"
        if not text.strip():
            status, arguments = ("in-start", self.whole_input) if self.whole_input else ("empty", {})
        call = {"id": self.item.get("id"), "name": self.item.get("name"), "arguments": arguments}
        return {**call, "arguments_raw": text, "arguments_status": status, "type": self.kind}


def described(items: tuple[JsonObject, ...]) -> JsonObject:
    """Describe the blocks of an answer for `signalbox decode`."""
    thinking = [item for item in items if item.get("type") == "thinking"]
    return {
        "blocks": [_described(item) for item in items],
        "thinking_signatures": [item["signature"] for item in thinking if item.get("signature")],
        "redacted_thinking": [item.get("data") for item in items if item.get("type") == "redacted_thinking"],
        "server_tool_calls": [
            {"id": item.get("id"), "name": item.get("name"), "arguments": item.get("input"), "type": item["type"]}
            for item in items
            if item.get("type") in SERVER_TOOLS
        ],
        "server_result_blocks": [item.get("type") for item in items if item.get("type") not in _NO_RESULT],
        "n_citations": sum(len(_citations(item)) for item in items),
    }


def _described(item: JsonObject) -> JsonObject:
    match item.get("type"):
        case "text":
            count = len(_citations(item))
            text: JsonObject = {"type": "text", "text": item.get("text")}
            return {**text, "citations": count} if count else text
        case "thinking":
            return {"type": "thinking", "thinking": item.get("thinking"), "signature": item.get("signature") or ""}
        case "redacted_thinking":
            return {"type": "redacted_thinking", "data": item.get("data")}
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            return {"type": item["type"], "id": item.get("id"), "name": item.get("name")}
        case kind:
            return {"type": kind}


def _citations(item: JsonObject) -> list[JsonValue]:
    listed = item.get("citations")
    return listed if isinstance(listed, list) else []


def _parsed(text: str) -> JsonValue:
    """Parse a call's arguments; None if they are not JSON."""
    try:
        return loads(text)
    except ValueError:
        return None
