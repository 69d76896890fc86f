"""A run that a client has seen finish stays finished, even if the server is killed immediately afterwards."""

from pathlib import Path

import pytest

from tests.support.processes import Process, serving
from tests.support.stream_reader import check_stream

pytestmark = pytest.mark.e2e
RUNS = 2


def test_an_answer_that_was_read_to_its_end_is_the_same_after_a_kill(tmp_path: Path) -> None:
    """`done` is sent only after it is on disk: a restart replays the same bytes, then answers 204."""
    for _ in range(RUNS):
        with serving(tmp_path, env={"TOOL_LOOP_V2": "true"}) as server, server.client() as client:
            body = {"model": "openai/sim", "prompt": "What is 17 * 23?"}
            seen = client.post("/api/chat/stream", json=body)
            _kill(server)
        assert check_stream(seen.content).done["status"] == "complete"
        run_id = seen.headers["x-run-id"]
        with serving(tmp_path) as server, server.client() as client:
            assert client.get(f"/api/runs/{run_id}/events").content == seen.content
            last = check_stream(seen.content).ids[-1]
            again = client.get(f"/api/runs/{run_id}/events", headers={"Last-Event-ID": last})
            assert again.status_code == 204


def _kill(server: Process) -> None:
    server.process.kill()
    server.process.wait()
