"""Files that a run writes at one worker are read and changed at the other."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.scenarios.files.test_replay import creates
from tests.scenarios.workers.test_two_workers import serve_twice
from tests.support.scripted_upstream import says
from tests.support.stream_reader import check_stream

pytestmark = pytest.mark.e2e
FILE = "/api/conversations/talk/files/index.html"


def test_sc28_both_workers_have_the_files_of_a_conversation(tmp_path: Path, postgres_url: str) -> None:
    """The other worker reads a new file at once. One of two simultaneous changes is accepted; the model gets a note."""
    body = {"model": "openai/sim", "tools": ["create_file"], "conversation_id": "talk"}
    scripts = (creates("first"), says("Done."), says("Seen."))
    with serve_twice(tmp_path, postgres_url, *scripts) as here, here.one.client() as one, here.two.client() as two:
        answer = one.post("/api/chat/stream", json={**body, "prompt": "Write"})
        assert check_stream(answer.content).done["status"] == "complete"
        assert two.get(FILE).text == "first"

        def change(client: httpx.Client) -> int:
            return client.put(FILE, content="second", params={"base_version": 1}).status_code

        with ThreadPoolExecutor(2) as threads:
            assert sorted(threads.map(change, (one, two))) == [200, 409]
        versions = one.get("/api/conversations/talk/file-versions/index.html").json()["versions"]
        assert [(version["version"], version["author"]) for version in versions] == [(2, "person"), (1, "model")]
        assert two.post("/api/chat/stream", json={**body, "prompt": "Look"}).status_code == 200
        assert "+second" in here.upstream.asked[-1].body["messages"][-1]["content"]
