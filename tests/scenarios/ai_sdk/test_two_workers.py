"""A chat at two workers: each can resume and stop the other's answers."""

from pathlib import Path

import pytest

from tests.scenarios.workers.test_two_workers import serve_twice
from tests.support.running_app import read_until
from tests.support.scripted_upstream import holds, waits
from tests.support.ui_message import UiMessageReader

pytestmark = pytest.mark.e2e

CHAT = "/api/ai/chat"
MESSAGE = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Hello!"}]}
ASK = {"id": "chat-1", "model": "openai/sim", "tools": [], "messages": [MESSAGE]}


def test_an_answer_is_resumed_and_stopped_at_the_other_worker(tmp_path: Path, postgres_url: str) -> None:
    """From its first event, byte for byte, while it goes on."""
    with serve_twice(tmp_path, postgres_url, waits, holds) as here, here.one.client() as one, here.two.client() as two:
        with one.stream("POST", CHAT, json=ASK) as answer:
            chunks = answer.iter_raw()
            own = read_until(chunks, b"First ")
            with two.stream("GET", f"{CHAT}/chat-1/stream") as resumed:
                others = resumed.iter_raw()
                seen = read_until(others, b"First ")
                here.upstream.opened.set()
                own += b"".join(chunks)
                assert seen + b"".join(others) == own
        assert two.get(f"{CHAT}/chat-1/stream").status_code == 204
        assert two.get(f"{CHAT}/chat-1/stream?finished=true").content == own

        with one.stream("POST", CHAT, json={**ASK, "id": "chat-2"}) as answer:
            chunks = answer.iter_raw()
            own = read_until(chunks, b"So far")
            assert len(two.post(f"{CHAT}/chat-2/stop").json()["stopped"]) == 1
            own += b"".join(chunks)
        assert UiMessageReader().read_stream(own).is_aborted
