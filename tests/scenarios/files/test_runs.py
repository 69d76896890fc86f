"""Tools of a run read and write the files of its branch."""

from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.conversations.conversation_client import ConversationClient, start_conversation
from tests.scenarios.files.file_writer import done, note_tool, notes
from tests.support.disk import BOTH
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of, settings_for
from tests.support.scripted_upstream import ScriptedUpstream

DATABASES = BOTH


def seen(talk: ConversationClient, prompt: str | None = None, **body: Any) -> tuple[str, Any]:
    """Send a question whose answer calls the tool; return the id of the run, and the files that the tool returned."""
    answered = talk.ask(prompt, tools=["note"], **body)
    (result,) = answered.heard.of("tool_result")
    return answered.run_id, result["result"]["result"]


def test_a_branch_has_the_files_of_its_runs(start_app: StartApp) -> None:
    """SC-16, SC-28: a later run finds the files of the branch, and a fork sees only its own."""
    scripts = [
        *(notes(path="a.txt", text="1"), done),
        *(notes(path="b.txt", text="2"), done),
        *(notes(path="c.txt", text="3"), done),
        *(notes(), done),
    ]
    talk = start_conversation(start_app, *scripts, extra_tools=[note_tool()])
    first, files = seen(talk, "Write a")
    assert files == {"a.txt": "1"}
    left, files = seen(talk, "Write b")
    assert files == {"a.txt": "1", "b.txt": "2"}
    _, files = seen(talk, "Write c", parent_id=first)
    assert files == {"a.txt": "1", "c.txt": "3"}
    _, files = seen(talk, "What is there?", parent_id=left)
    assert files == {"a.txt": "1", "b.txt": "2"}


def test_files_survive_a_restart(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """SC-28: another server on the same database finds the files of the branch."""
    database = {} if kind == "sqlite" else {"database_url": request.getfixturevalue("postgres").new_database()}
    with ScriptedUpstream(notes(path="a.txt", text="1"), done, notes(), done) as upstream:
        settings = settings_for(tmp_path, openrouter_base_url=upstream.base_url, **database)
        for question in ("Write a", "What is there?"):
            with RunningApp(settings, extra_tools=[note_tool()]) as app:
                _, files = seen(ConversationClient(app, upstream), question)
            assert files == {"a.txt": "1"}


def test_a_tool_for_files_needs_a_conversation(start_app: StartApp) -> None:
    """Outside of a conversation, the request is rejected with the field that is missing."""
    app, upstream = start_app(done, extra_tools=[note_tool()])
    body = {"model": "openai/sim", "prompt": "Write", "tools": ["note"]}
    response = app.client.post("/api/chat/stream", json=body)
    assert response.status_code == 422
    error = error_of(response)
    assert (error["code"], error["field"]) == ("INVALID_REQUEST", "tools.0")
    assert "send conversation_id too" in error["message"]
    assert upstream.asked == []
