"""A replay of a run that has written files writes nothing."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.scenarios.files.file_writer import done
from tests.scenarios.replay.conftest import Command, run_command
from tests.support.processes import serving
from tests.support.scripted_upstream import Script, ScriptedUpstream, call_chunk, calls_then
from tests.support.stream_reader import check_stream

__all__ = ["run_command"]


def creates(text: str) -> Script:
    """Make a script that calls create_file."""
    arguments = {"path": "index.html", "content": text, "overwrite": True}
    return calls_then(call_chunk("create_file", json.dumps(arguments)))


def stored(folder: Path) -> list[Any]:
    """Return all versions of files in a data folder."""
    with closing(sqlite3.connect(f"file:{folder / 'data' / 'signalbox.db'}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT number, path, author, content FROM file_versions ORDER BY number").fetchall()


def test_sc16_a_replay_of_a_run_with_files_writes_no_version(tmp_path: Path, run_command: Command) -> None:
    """A replay returns the recorded results, and sends the model the same note about changed files."""
    body = {"model": "openai/sim", "tools": ["create_file"], "conversation_id": "talk"}
    file = "/api/conversations/talk/files/index.html"
    with ScriptedUpstream(creates("1"), done, creates("2"), done) as upstream:
        env = {"OPENROUTER_BASE_URL": upstream.base_url, "OPENROUTER_API_KEY": "sk-of-a-test"}
        with serving(tmp_path, env=env) as server, server.client() as client:
            check_stream(client.post("/api/chat/stream", json={**body, "prompt": "Write"}).content)
            assert client.put(file, content="mine").status_code == 200
            answer = client.post("/api/chat/stream", json={**body, "prompt": "Write again"})
            assert check_stream(answer.content).done["status"] == "complete"
            # At the question, but after its answer had begun.
            late = client.put(file, content="late", params={"node_id": answer.headers["x-message-id"]})
            assert late.status_code == 200
    before = stored(tmp_path)
    assert [(number, author) for number, _, author, _ in before] == [
        (1, "model"),
        (2, "person"),
        (3, "model"),
        (4, "person"),
    ]
    told = upstream.asked[2].body["messages"]
    assert "mine" in told[-1]["content"]
    with ScriptedUpstream(creates("2"), done) as again:
        env = {"OPENROUTER_BASE_URL": again.base_url, "OPENROUTER_API_KEY": "sk-of-a-test"}
        found = run_command("replay", answer.headers["x-run-id"], "--loop", "v2", cwd=tmp_path, **env)
        assert found.status == 0, found.out + found.err
    assert again.asked[0].body["messages"] == told
    assert len(again.asked) == 2, "the call got its recorded result"
    assert stored(tmp_path) == before
