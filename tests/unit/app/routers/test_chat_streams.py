"""POST /api/chat/stream: headers, pings and order of the streamed response."""

import threading

import pytest
from signalbox.app.asgi import streaming

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, read_until
from tests.support.scripted_upstream import waits
from tests.support.stream_reader import check_stream, parse_stream


def test_headers_of_a_stream(app: RunningApp) -> None:
    """Headers name contract, run and loop, and prevent proxies from buffering."""
    with app.client.stream("POST", "/api/chat/stream", json={"model": "openai/sim", "prompt": "Hello!"}) as response:
        headers = response.headers
        heard = check_stream(b"".join(response.iter_raw()))
    assert headers["content-type"] == "text/event-stream; charset=utf-8"
    assert headers["x-chat-contract"] == "1.1"
    assert headers["x-tool-loop"] == "v2"
    assert headers["cache-control"] == "no-cache, no-transform"
    assert headers["x-accel-buffering"] == "no"
    assert "content-length" not in headers
    run_id = headers["x-run-id"]
    assert len(run_id) == 32
    assert heard.ids == [f"{run_id}:{seq}" for seq in range(1, len(heard.ids) + 1)]
    assert {k: heard.events[0][k] for k in ("v", "run_id", "loop")} == {"v": "1.1", "run_id": run_id, "loop": "v2"}
    assert all("ts" in event for event in heard.events if event["type"] != "content")


def test_no_compression_even_when_it_is_asked_for(app: RunningApp) -> None:
    """Streams are not compressed, since gzip delays frames (quirk E7)."""
    headers = {"accept-encoding": "gzip, br"}
    body = {"model": "openai/sim", "prompt": "Hello!"}
    with app.client.stream("POST", "/api/chat/stream", json=body, headers=headers) as response:
        assert "content-encoding" not in response.headers
        check_stream(b"".join(response.iter_raw()))


def test_frames_arrive_while_the_model_still_speaks(start_app: StartApp) -> None:
    """Frames reach the client before later ones are emitted."""
    app, upstream = start_app(waits)
    with app.asking(tools=[]) as response:
        chunks = response.iter_raw()
        seen = read_until(chunks, b"First ")
        assert b"done" not in seen
        upstream.opened.set()
        assert check_stream(seen + b"".join(chunks)).text == "First second."


def test_a_silent_stream_is_pinged_between_frames(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the model is silent, comments keep the connection open, never inside a frame (quirk E4)."""
    monkeypatch.setattr(streaming, "PING_SECONDS", 0.01)
    app, upstream = start_app(waits)
    with app.asking(tools=[]) as response:
        chunks = response.iter_raw()
        seen = read_until(chunks, b": ping\n\n: ping\n\n")
        upstream.opened.set()
        heard = check_stream(seen + b"".join(chunks))
    assert heard.text == "First second."
    assert set(heard.comments) == {"ping"}
    assert len(heard.comments) >= 2


def test_a_busy_stream_is_not_pinged(app: RunningApp) -> None:
    """A busy stream has no comments."""
    assert app.ask("Tell me about the tool loop.").comments == []


def test_many_runs_at_once_keep_to_themselves(app: RunningApp) -> None:
    """Twenty concurrent streams have separate texts and ids."""
    answers: dict[int, bytes] = {}

    def ask(number: int) -> None:
        answers[number] = app.post(prompt=f"What is {number} * 1000?").content

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(2, 22)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    heard = {number: check_stream(raw) for number, raw in answers.items()}
    assert len({one.events[0]["run_id"] for one in heard.values()}) == 20
    for number, one in heard.items():
        assert f"{number}000" in one.text.replace(",", ""), one.text


def test_the_slow_reader_reads_what_it_should() -> None:
    """The stream reader of these tests is checked with a handwritten stream."""
    heard = parse_stream(
        b': ping\n\ndata: {"type":"content","content":"x"}\nid: a:1\n\ndata: {"type":"done"}\nid: a:2\n\n'
    )
    assert (heard.text, heard.ids, heard.comments, heard.types) == ("x", ["a:1", "a:2"], ["ping"], ["content", "done"])
