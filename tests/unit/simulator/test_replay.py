"""A replayed recording is the recorded bytes, status and type, and a chain plays its steps in order."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from signalbox.simulator.http.replay import DIALECTS, Recording, load
from signalbox.simulator.http.server import BackgroundSimulator

from tests.unit.simulator.requests import result
from tests.unit.simulator.slow_decoder import hear, said

ASKED = {"stream": True, "messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture(scope="module")
def library(recordings: Path) -> list[Recording]:
    """Read what can be replayed."""
    return list(load(recordings).recordings)


@pytest.fixture(scope="module")
def player(recordings: Path) -> Iterator[httpx.Client]:
    """Run a simulator that replays the whole folder."""
    with (
        BackgroundSimulator(replay=recordings) as simulator,
        httpx.Client(base_url=simulator.base_url, timeout=10) as client,
    ):
        yield client


def made(folder: Path, name: str, body: bytes, **facts: Any) -> None:
    """Write a recording of our own."""
    (folder / f"{name}.sse").write_bytes(body)
    (folder / f"{name}.json").write_text(json.dumps({"dialect": "openrouter-chat", **facts}))


def test_every_chat_recording_is_served(library: list[Recording], recordings: Path) -> None:
    """Every `openrouter-chat` and `openai-chat` body of the folder can be replayed."""
    bodies = [file for file in recordings.iterdir() if file.name.endswith((".sse", ".body.json"))]
    wanted = {file for file in bodies if file.name.partition("__")[0] in DIALECTS}
    assert {recording.path for recording in library} == wanted
    print(f"recordings replayed: {len(library)}")


def test_bytes_are_the_recorded_bytes(player: httpx.Client, library: list[Recording]) -> None:
    """Over HTTP each recording comes back byte for byte, with its status and type."""
    for recording in library:
        response = player.post("/chat/completions", json={**ASKED, "model": f"replay/{recording.stem}"})
        assert response.content == recording.path.read_bytes(), recording.stem
        assert response.status_code == recording.status, recording.stem
        assert response.headers["content-type"] == recording.content_type, recording.stem


def test_writes_have_the_recorded_sizes(library: list[Recording]) -> None:
    """Where chunk sizes are known the writes have them; where not, each frame is one."""
    sized = [recording for recording in library if recording.chunk_sizes]
    assert sized
    for recording in sized:
        assert recording.chunk_sizes is not None
        assert tuple(map(len, recording.writes())) == recording.chunk_sizes, recording.stem
    for recording in library:
        assert b"".join(recording.writes()) == recording.path.read_bytes(), recording.stem


def test_header_picks_a_recording(player: httpx.Client, library: list[Recording]) -> None:
    """The header names the file, whatever the model says."""
    recording = library[-1]
    headers = {"x-simulator-recording": recording.stem}
    response = player.post("/chat/completions", json={**ASKED, "model": "x/y"}, headers=headers)
    assert response.content == recording.path.read_bytes()


def test_every_chain_plays_in_order(player: httpx.Client, library: list[Recording]) -> None:
    """The recorded request of each step of a chain is answered with that step."""
    steps = [recording for recording in library if recording.chain]
    assert steps
    print(f"chains replayed: {len({recording.chain for recording in steps})}, steps: {len(steps)}")
    for recording in steps:
        messages = list(recording.messages) or [{"role": "assistant", "content": ""}] * (recording.step - 1)
        body = {"stream": True, "model": f"replay/{recording.chain}", "messages": messages}
        response = player.post("/chat/completions", json=body)
        assert response.content == recording.path.read_bytes(), (recording.stem, recording.step)


def test_a_tool_loop_walks_through_a_chain(player: httpx.Client, library: list[Recording]) -> None:
    """A client that answers the calls of step 1 gets step 2, for every chain whose first step has calls."""
    walked = 0
    for first in (recording for recording in library if recording.chain and recording.step == 1):
        model = f"replay/{first.chain}"
        heard = hear(player.post("/chat/completions", json={**ASKED, "model": model}).content)
        if not heard.calls:
            continue
        results = [result(call["id"], "ok") for call in heard.calls]
        messages = [*ASKED["messages"], said(heard), *results]
        second = next(recording for recording in library if (recording.chain, recording.step) == (first.chain, 2))
        response = player.post("/chat/completions", json={**ASKED, "model": model, "messages": messages})
        assert response.content == second.path.read_bytes(), first.chain
        walked += 1
    assert walked
    print(f"chains walked: {walked}")


def test_models_lists_recordings_chains_and_recorded_models(player: httpx.Client, library: list[Recording]) -> None:
    """All three forms of id are in the catalogue."""
    listed = {model["id"] for model in player.get("/models").json()["data"]}
    for recording in library:
        assert recording.model in listed
        assert f"replay/{recording.stem}" in listed
        assert recording.chain is None or f"replay/{recording.chain}" in listed


def test_nothing_is_simulated_in_place_of_a_recording(player: httpx.Client) -> None:
    """A model that was not recorded is refused; only the `sim` models still answer."""
    refused = player.post("/chat/completions", json={**ASKED, "model": "openai/gpt-9"})
    assert refused.status_code == 400
    assert player.post("/chat/completions", json={**ASKED, "model": "openai/sim"}).status_code == 200


def test_a_recorded_model_answers_the_question_it_was_asked(tmp_path: Path) -> None:
    """Of two recordings of a model the one with the same question is taken, else the first."""
    for name, question in (("one", "first?"), ("two", "second?")):
        request = {"messages": [{"role": "user", "content": question}]}
        made(tmp_path, name, f"data: {name}\n\n".encode(), model="a/b", request=request)
    library = load(tmp_path)
    for question, name in (("second?", "two"), ("first?", "one"), ("other", "one")):
        picked = library.pick({"model": "a/b", "messages": [{"role": "user", "content": question}]}, {})
        assert picked is not None
        assert picked.stem == name


def test_a_file_without_facts_is_replayed(tmp_path: Path) -> None:
    """A stream that a person captured needs no JSON beside it."""
    (tmp_path / "mine.sse").write_bytes(b"data: [DONE]\n\n")
    with BackgroundSimulator(replay=tmp_path / "mine.sse") as simulator:
        response = httpx.post(f"{simulator.base_url}/chat/completions", json={**ASKED, "model": "replay/mine"})
    assert response.content == b"data: [DONE]\n\n"


@pytest.mark.parametrize("name", ["absent.sse", ""])
def test_nothing_to_replay_is_said(tmp_path: Path, name: str) -> None:
    """A path without recordings is an error with the path in it."""
    with pytest.raises(FileNotFoundError, match="recording"):
        load(tmp_path / name)


def test_malformed_requests_are_replayed_to(tmp_path: Path) -> None:
    """Replay validates nothing: a history no host would take is answered."""
    made(tmp_path, "one", b"data: x\n\n", model="a/b", http_status=200)
    broken = {"model": "a/b", "messages": [{"role": "tool", "content": "orphan"}, 7]}
    with BackgroundSimulator(replay=tmp_path) as simulator:
        assert httpx.post(f"{simulator.base_url}/chat/completions", json=broken).content == b"data: x\n\n"
