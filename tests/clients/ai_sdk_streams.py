"""Streams of every ending and of random runs, with what the AI SDK's client must make of them."""

import json
from pathlib import Path
from typing import Any

from signalbox.core.events import Call, Done, Stamped, ToolCalls
from signalbox.core.messages import ToolMessage
from signalbox.core.records import RunRecord
from signalbox.encoders.ai_sdk import AiSdkEncoder, outputs_of

from tests.support.run_events import CLIENT_TOOL, RUN, all_endings, random_run, stamped
from tests.support.ui_message import Json, UiMessageReader

_RANDOM = 300
_EARLIER = "f" * 32
_HANDED = Call("earlier", CLIENT_TOOL, '{"page": "home"}', "other", "secondary")
_OF_TOOLS = ("toolCallId", "state", "input", "output", "errorText")


def write_streams(path: Path) -> None:
    """Write the streams to a file for `node/ai_sdk_streams.mjs`."""
    runs = {**all_endings(), **{f"random {seed}": random_run(seed) for seed in range(_RANDOM)}}
    streams = {name: AiSdkEncoder(_record(RUN)).encode(events) for name, events in runs.items()}
    streams |= {f"resumed {seed}": _resumed(runs[f"random {seed}"]) for seed in range(_RANDOM)}
    path.write_text(json.dumps({name: _described(stream) for name, stream in streams.items()}), encoding="utf-8")


def _record(run_id: str) -> RunRecord:
    return RunRecord(run_id, "openai/sim", "v2", echo={"client_tools": [CLIENT_TOOL], "message_id": RUN})


def _resumed(events: list[Stamped]) -> bytes:
    """Return the stream of a page that was reloaded while the answer went on with the outputs of its tools."""
    leg = stamped(ToolCalls([_HANDED], 1), Done(True, "complete", handed=[_HANDED.id]))
    first = AiSdkEncoder(_record(_EARLIER)).encode_leg(leg)
    outputs = outputs_of(_EARLIER, [ToolMessage(_HANDED.id, CLIENT_TOOL, '{"title": "Home"}')])
    return first + outputs + AiSdkEncoder(_record(RUN)).encode(events)


def _described(stream: bytes) -> Json:
    message = UiMessageReader().read_stream(stream)
    handed = [part for part in message.tools if part["state"] == "input-available"]
    expected: dict[str, Any] = {
        "requests": 1,
        "executed": len(handed),
        "status": "error" if message.error else "ready",
        "error": message.error,
        "text": message.text_of("text"),
        "reasoning": message.text_of("reasoning"),
        "tools": [{name: part[name] for name in _OF_TOOLS if part.get(name) is not None} for part in message.tools],
        "isWhole": True,
    }
    return {"stream": stream.decode(), "expected": expected}
