"""Replayed recordings: bytes, status, content type, chains."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from signalbox.simulator.http.replay import DIALECTS, Recording, load
from signalbox.simulator.http.server import BackgroundSimulator

from tests.unit.simulator.requests import result
from tests.unit.simulator.slow_decoder import assistant_message, decode

ASKED = {"stream": True, "messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture(scope="module")
def library(recordings: Path) -> list[Recording]:
    """Load the recordings."""
    return list(load(recordings).recordings)


@pytest.fixture(scope="module")
def player(recordings: Path) -> Iterator[httpx.Client]:
    """Run a simulator that replays all recordings."""
    with (
        BackgroundSimulator(replay=recordings) as simulator,
        httpx.Client(base_url=simulator.base_url, timeout=10, verify=False) as client,
    ):
        yield client


def made(folder: Path, name: str, body: bytes, **facts: Any) -> None:
    """Write a recording."""
    (folder / f"{name}.sse").write_bytes(body)
    (folder / f"{name}.json").write_text(json.dumps({"dialect": "openrouter-chat", **facts}))


def test_every_chat_recording_is_served(library: list[Recording], recordings: Path) -> None:
    """Every `openrouter-chat` and `openai-chat` body in the folder can be replayed."""
    bodies = [file for file in recordings.iterdir() if file.name.endswith((".sse", ".body.json"))]
    wanted = {file for file in bodies if file.name.partition("__")[0] in DIALECTS}
    assert {recording.path for recording in library} == wanted
    print(f"recordings replayed: {len(library)}")


def test_bytes_status_and_content_type(player: httpx.Client, library: list[Recording]) -> None:
    """Each recording is served byte for byte, with its status and content type."""
    for recording in library:
        response = player.post("/chat/completions", json={**ASKED, "model": f"replay/{recording.stem}"})
        assert response.content == recording.path.read_bytes(), recording.stem
        assert response.status_code == recording.status, recording.stem
        assert response.headers["content-type"] == recording.content_type, recording.stem


def test_writes_have_the_recorded_sizes(library: list[Recording]) -> None:
    """Writes have the recorded chunk sizes; without these, each frame is one write."""
    sized = [recording for recording in library if recording.chunk_sizes]
    assert sized
    for recording in sized:
        assert recording.chunk_sizes is not None
        assert tuple(map(len, recording.writes())) == recording.chunk_sizes, recording.stem
    for recording in library:
        assert b"".join(recording.writes()) == recording.path.read_bytes(), recording.stem


def test_the_header_selects_a_recording(player: httpx.Client, library: list[Recording]) -> None:
    """The header names the file, and the model does not matter."""
    recording = library[-1]
    headers = {"x-simulator-recording": recording.stem}
    response = player.post("/chat/completions", json={**ASKED, "model": "x/y"}, headers=headers)
    assert response.content == recording.path.read_bytes()


def test_chains_are_served_in_order(player: httpx.Client, library: list[Recording]) -> None:
    """The recorded request of each step of a chain gets that step."""
    steps = [recording for recording in library if recording.chain]
    assert steps
    print(f"chains replayed: {len({recording.chain for recording in steps})}, steps: {len(steps)}")
    for recording in steps:
        messages = list(recording.messages) or [{"role": "assistant", "content": ""}] * (recording.step - 1)
        body = {"stream": True, "model": f"replay/{recording.chain}", "messages": messages}
        response = player.post("/chat/completions", json=body)
        assert response.content == recording.path.read_bytes(), (recording.stem, recording.step)


def test_tool_loops_through_chains(player: httpx.Client, library: list[Recording]) -> None:
    """A client that sends results for the calls of step 1 gets step 2."""
    walked = 0
    for first in (recording for recording in library if recording.chain and recording.step == 1):
        model = f"replay/{first.chain}"
        decoded = decode(player.post("/chat/completions", json={**ASKED, "model": model}).content)
        if not decoded.calls:
            continue
        results = [result(call["id"], "ok") for call in decoded.calls]
        messages = [*ASKED["messages"], assistant_message(decoded), *results]
        second = next(recording for recording in library if (recording.chain, recording.step) == (first.chain, 2))
        response = player.post("/chat/completions", json={**ASKED, "model": model, "messages": messages})
        assert response.content == second.path.read_bytes(), first.chain
        walked += 1
    assert walked
    print(f"chains walked: {walked}")


def test_the_catalogue_lists_all_ids(player: httpx.Client, library: list[Recording]) -> None:
    """The catalogue has recordings, chains and recorded models."""
    listed = {model["id"] for model in player.get("/models").json()["data"]}
    for recording in library:
        assert recording.model in listed
        assert f"replay/{recording.stem}" in listed
        assert recording.chain is None or f"replay/{recording.chain}" in listed


def test_models_without_a_recording(player: httpx.Client) -> None:
    """They are rejected; only the `sim` models are simulated."""
    rejected = player.post("/chat/completions", json={**ASKED, "model": "openai/gpt-9"})
    assert rejected.status_code == 400
    assert player.post("/chat/completions", json={**ASKED, "model": "openai/sim"}).status_code == 200


def test_recordings_are_selected_by_question(tmp_path: Path) -> None:
    """Of two recordings of a model, the one with the same question is selected, else the first."""
    for name, question in (("one", "first?"), ("two", "second?")):
        request = {"messages": [{"role": "user", "content": question}]}
        made(tmp_path, name, f"data: {name}\n\n".encode(), model="a/b", request=request)
    library = load(tmp_path)
    for question, name in (("second?", "two"), ("first?", "one"), ("other", "one")):
        picked = library.pick({"model": "a/b", "messages": [{"role": "user", "content": question}]}, {})
        assert picked is not None
        assert picked.stem == name


def test_recordings_without_metadata(tmp_path: Path) -> None:
    """A captured stream can be replayed without a JSON file."""
    (tmp_path / "mine.sse").write_bytes(b"data: [DONE]\n\n")
    with BackgroundSimulator(replay=tmp_path / "mine.sse") as simulator:
        response = httpx.post(f"{simulator.base_url}/chat/completions", json={**ASKED, "model": "replay/mine"})
    assert response.content == b"data: [DONE]\n\n"


@pytest.mark.parametrize("name", ["absent.sse", ""])
def test_paths_without_recordings(tmp_path: Path, name: str) -> None:
    """The error names the path."""
    with pytest.raises(FileNotFoundError, match="recording"):
        load(tmp_path / name)


def test_requests_are_not_validated(tmp_path: Path) -> None:
    """A replay accepts a history that every provider rejects."""
    made(tmp_path, "one", b"data: x\n\n", model="a/b", http_status=200)
    broken = {"model": "a/b", "messages": [{"role": "tool", "content": "orphan"}, 7]}
    with BackgroundSimulator(replay=tmp_path) as simulator:
        assert httpx.post(f"{simulator.base_url}/chat/completions", json=broken).content == b"data: x\n\n"
