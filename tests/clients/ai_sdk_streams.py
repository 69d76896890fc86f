"""Streams of every ending and of random runs, with what the AI SDK's client must make of them."""

import json
from pathlib import Path
from typing import Any

from signalbox.core.events import Stamped
from signalbox.core.records import RunRecord
from signalbox.encoders.ai_sdk import AiSdkEncoder

from tests.support.run_events import CLIENT_TOOL, RUN, all_endings, random_run
from tests.support.ui_message import Json, UiMessageReader

_RANDOM = 300
_OF_TOOLS = ("toolCallId", "state", "input", "output", "errorText")


def write_streams(path: Path) -> None:
    """Write the streams to a file for `node/ai_sdk_streams.mjs`."""
    runs = {**all_endings(), **{f"random {seed}": random_run(seed) for seed in range(_RANDOM)}}
    path.write_text(json.dumps({name: _described(events) for name, events in runs.items()}), encoding="utf-8")


def _described(events: list[Stamped]) -> Json:
    record = RunRecord(RUN, "openai/sim", "v2", echo={"client_tools": [CLIENT_TOOL]})
    stream = AiSdkEncoder(record).encode(events)
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
