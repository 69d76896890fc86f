"""A client of assistant-ui's framings: the PyPI package `assistant-stream` applies the operations to a state."""

import json
from collections.abc import AsyncGenerator
from typing import Any

from assistant_stream.assistant_stream_chunk import ErrorChunk, UpdateStateChunk
from assistant_stream.serialization.assistant_transport import AssistantTransportEncoder
from assistant_stream.serialization.data_stream import DataStreamEncoder as OracleEncoder
from assistant_stream.state import AssistantState
from signalbox.core.events import Stamped
from signalbox.core.messages import JsonObject
from signalbox.core.records import RunRecord
from signalbox.encoders.assistant_ui.branch import EMPTY, Branch
from signalbox.encoders.assistant_ui.framings import DataStreamEncoder, TransportEncoder

RUN = "0" * 32
RECORD = RunRecord(RUN, "openai/sim", "v2")
Chunk = UpdateStateChunk | ErrorChunk


def lines_of(events: list[Stamped], branch: Branch = EMPTY) -> list[str]:
    """Encode events in one batch as a data stream; return its lines."""
    body = DataStreamEncoder(RECORD, branch=branch).encode(events).decode()
    assert not body or body.endswith("\n")
    return body.split("\n")[:-1]


def frames_of(events: list[Stamped], branch: Branch = EMPTY) -> list[str]:
    """Encode events in one batch as assistant transport; return its frames."""
    body = TransportEncoder(RECORD, branch=branch).encode(events).decode()
    assert not body or body.endswith("\n\n")
    return body.split("\n\n")[:-1]


def chunks_in(lines: list[str]) -> list[Chunk]:
    """Decode a data stream."""
    return [_chunk(*line.split(":", 1)) for line in lines]


def _chunk(code: str, data: str) -> Chunk:
    value = json.loads(data)
    if code == "3":
        return ErrorChunk(value)
    assert code == "aui-state"
    return UpdateStateChunk(value)


async def encoded_by_oracle(chunks: list[Chunk]) -> tuple[list[str], list[str]]:
    """Return chunks as the package itself encodes them, in both framings, without spaces in the JSON."""

    async def source() -> AsyncGenerator[Any, None]:
        for chunk in chunks:
            yield chunk

    lines = [line async for line in OracleEncoder().encode_stream(source())]
    frames = [frame async for frame in AssistantTransportEncoder().encode_stream(source())]
    return [compact(line.rstrip("\n"), ":") for line in lines], [compact(frame.rstrip("\n"), ": ") for frame in frames]


def compact(line: str, separator: str) -> str:
    """Write the JSON of a line without spaces."""
    code, data = line.split(separator, 1)
    if data == "[DONE]":
        return line
    return f"{code}{separator}{json.dumps(json.loads(data), separators=(',', ':'), ensure_ascii=False)}"


def state_after(lines: list[str], state: JsonObject | None = None) -> dict[str, Any]:
    """Return the state after a data stream."""
    client = AssistantState({"messages": [], "warnings": [], **(state or {})})
    for chunk in chunks_in(lines):
        if isinstance(chunk, UpdateStateChunk):
            client.apply(chunk.operations)
    return client.state
