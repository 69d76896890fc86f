"""Streams of every ending and of random runs, with the state that assistant-ui's client must end with."""

import json
from pathlib import Path
from typing import Any

from signalbox.core.events import Stamped
from signalbox.core.records import RunRecord
from signalbox.encoders.assistant_ui.framings import DataStreamEncoder, TransportEncoder

from tests.support.assistant_client import ErrorChunk, chunks_in, state_after
from tests.support.run_events import RUN, all_endings, random_run

_RANDOM = 300
_RECORD = RunRecord(RUN, "openai/sim", "v2")
_ENCODERS = {"data-stream": DataStreamEncoder, "assistant-transport": TransportEncoder}


def write_streams(path: Path) -> None:
    """Write the streams to a file for `node/assistant_ui_streams.mjs`."""
    runs = {**all_endings(), **{f"random {seed}": random_run(seed) for seed in range(_RANDOM)}}
    path.write_text(json.dumps({name: _described(events) for name, events in runs.items()}), encoding="utf-8")


def _described(events: list[Stamped]) -> dict[str, Any]:
    opening: dict[str, Any] = {"messages": [], "warnings": []}
    streams = {
        name: (encoder.state(opening) + encoder(_RECORD).encode(events)).decode() for name, encoder in _ENCODERS.items()
    }
    lines = streams["data-stream"].split("\n")[:-1]
    errors = [chunk.error for chunk in chunks_in(lines) if isinstance(chunk, ErrorChunk)]
    return {"streams": streams, "state": state_after(lines), "error": errors[0] if errors else None}
