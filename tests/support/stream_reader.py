"""A parser of v1.1 streams that follows the SSE specification and shares no code with the product's parser."""

import json
from dataclasses import dataclass, field
from typing import Any

from signalbox.encoders.check import first_stream_fault


@dataclass
class ParsedStream:
    """The events, ids and comments of a stream."""

    raw: bytes = b""
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    ids: list[str] = field(default_factory=list[str])
    comments: list[str] = field(default_factory=list[str])
    pieces: list[bytes] = field(default_factory=list[bytes])

    @property
    def done(self) -> dict[str, Any]:
        assert self.events[-1]["type"] == "done"
        return self.events[-1]

    @property
    def text(self) -> str:
        return "".join(event["content"] for event in self.of("content"))

    @property
    def reasoning(self) -> str:
        return "".join(event["content"] for event in self.of("reasoning"))

    @property
    def seqs(self) -> list[int]:
        return [int(name.rpartition(":")[2]) for name in self.ids]

    @property
    def types(self) -> list[str]:
        """The event types in order, without consecutive repetitions."""
        types = [event["type"] for event in self.events]
        return [kind for at, kind in enumerate(types) if at == 0 or types[at - 1] != kind]

    @property
    def warnings(self) -> list[str | None]:
        return [event.get("code") for event in self.of("warning")]

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [call for event in self.of("tool_calls") for call in event["calls"]]

    @property
    def arguments(self) -> list[Any]:
        """The parsed arguments of each call; None if they are not JSON."""
        return [_parsed(call["arguments"]) for call in self.calls]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]

    def result_codes(self) -> list[str | None]:
        """Return the error code of each call's result, in the order of the calls; None for a success."""
        codes = {event["id"]: event["result"].get("code") for event in self.of("tool_result")}
        return [codes[call["id"]] for call in self.calls]


def parse_stream(raw: bytes) -> ParsedStream:
    """Parse a stream; raise AssertionError for framing that v1.1 does not allow."""
    assert b"\r" not in raw
    heard = ParsedStream(raw)
    if not raw:
        return heard
    assert raw.endswith(b"\n\n"), raw[-100:]
    for block in raw[:-2].split(b"\n\n"):
        lines = block.split(b"\n")
        heard.comments += [line[1:].decode().strip() for line in lines if line.startswith(b":")]
        fields = [line for line in lines if not line.startswith(b":")]
        if not fields:
            continue
        assert len(fields) == 2, block
        assert fields[0].startswith(b"data: "), block
        assert fields[1].startswith(b"id: "), block
        heard.ids.append(fields[1][4:].decode())
        heard.events.append(json.loads(fields[0][6:], parse_constant=_refuse))
        heard.pieces.append(b"\n".join(fields) + b"\n\n")
    return heard


def check_stream(raw: bytes, *, resumed: bool = False) -> ParsedStream:
    """Parse a complete stream; raise AssertionError unless it keeps the contract: schema, order, one `done`."""
    fault, frames = first_stream_fault(raw, resumed=resumed)
    assert fault is None, f"{fault}\n{raw.decode()}"
    heard = parse_stream(raw)
    assert len(heard.events) == frames
    assert sum(event["type"] == "done" for event in heard.events) == 1
    return heard


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError:
        return None


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not strict JSON")
