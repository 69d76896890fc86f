"""Streams of every ending and of random runs, with what the client of AG-UI must make of them."""

import json
from pathlib import Path

from signalbox.core.events import Stamped
from signalbox.core.records import RunRecord
from signalbox.encoders.ag_ui import AgUiEncoder

from tests.support.ag_ui_client import AgUiReader, Json
from tests.support.run_events import CLIENT_TOOL, RUN, all_endings, random_run

_RANDOM = 300


def write_streams(path: Path, version: str) -> None:
    """Write the streams for a version of the client to a file for `node/ag_ui_streams.mjs`."""
    runs = {**all_endings(), **{f"random {seed}": random_run(seed) for seed in range(_RANDOM)}}
    streams = {name: _described(events, version) for name, events in runs.items()}
    path.write_text(json.dumps(streams), encoding="utf-8")


def _described(events: list[Stamped], version: str) -> Json:
    echo: Json = {"thread_id": "t", "run_id": "r", "client_tools": [CLIENT_TOOL], "state": "empty"}
    if version != "0":  # clients before 1.0 send no version
        echo["protocol_version"] = "1.0"
    stream = AgUiEncoder(RunRecord(RUN, "openai/sim", "v2", echo=echo)).encode(events)
    reader = AgUiReader().read_stream(stream)
    expected: Json = {
        "ending": reader.last["type"],
        "code": reader.last.get("code"),
        "pending": reader.pending,
        "state": reader.state,
        "custom": [[name, value] for name, value in reader.custom],
        "texts": {one["id"]: one["content"] for role in ("assistant", "reasoning") for one in reader.of_role(role)},
        "calls": reader.calls,
    }
    return {"stream": stream.decode(), "expected": expected}
