"""Pages at two workers, and after a server was killed: each answer goes on, with nothing lost and nothing doubled."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.scenarios.assistant_ui.page import message
from tests.scenarios.crash.restarts import journal, until
from tests.scenarios.shopping_assistant.pages import AG_UI, DATA_STREAM, TRANSPORT, Json, PageProtocol
from tests.scenarios.workers.test_two_workers import serve_twice
from tests.support.ag_ui_client import AgUiReader
from tests.support.assistant_client import state_after
from tests.support.processes import Process, serving
from tests.support.running_app import read_until
from tests.support.scripted_upstream import ScriptedUpstream, holds, says, waits

pytestmark = pytest.mark.e2e
RESUMABLE = (DATA_STREAM, TRANSPORT, AG_UI)


def ask(page: PageProtocol, thread: str) -> Json:
    """Return a request that goes on when the client disconnects, where the protocol has that."""
    body = page.ask("Hello!", thread)
    return body if page is AG_UI else {**body, "onDisconnect": "continue"}


def texts_of(process: Process, thread: str) -> list[str]:
    """Return the texts that an assistant-ui page shows of a thread."""
    with process.client() as client:
        messages = client.get("/assistant/state", params={"threadId": thread}).json()["messages"]
    return ["".join(part.get("text", "") for part in one["content"]) for one in messages]


def test_an_answer_is_resumed_at_the_other_worker(tmp_path: Path, postgres_url: str) -> None:
    """From its first event, byte for byte, while it goes on; the page finds it by its thread."""
    scripts = (waits, waits, waits)
    with serve_twice(tmp_path, postgres_url, *scripts) as here, here.one.client() as one, here.two.client() as two:
        for page in RESUMABLE:
            here.upstream.opened.clear()
            thread = page.name.replace(" ", "-")
            with one.stream("POST", page.path, json=ask(page, thread)) as answer:
                run_id, chunks = answer.headers["x-run-id"], answer.iter_raw()
                own = read_until(chunks, b"First ")
                headers = {"last-event-id": f"{run_id}:0"}
                with two.stream("POST", page.path, json=ask(page, thread), headers=headers) as resumed:
                    others = resumed.iter_raw()
                    seen = read_until(others, b"First ")
                    if page is not AG_UI:
                        found = two.post(f"/assistant/resume-state?threadId={thread}", json={}).json()
                        assert found["runId"] == run_id
                    here.upstream.opened.set()
                    own += b"".join(chunks)
                    assert seen + b"".join(others) == own, page.name
            if page is not AG_UI:
                protocol = page.path.rpartition("/")[2].replace("transport", "assistant-transport")
                again = two.post(f"/assistant/resume?protocol={protocol}", json={"runId": run_id})
                assert again.content == own
                assert again.headers["aui-replay-content-length"] == str(len(own))
                assert two.post(f"/assistant/resume-state?threadId={thread}", json={}).status_code == 204
            assert texts_of(here.two, thread) == ["Hello!", "First second."]
        assert len(here.upstream.asked) == len(RESUMABLE)


def test_pages_go_on_after_the_server_was_killed(tmp_path: Path) -> None:
    """The text that was on screen is stored once, its ending says what happened, and the next message follows it."""
    pages = (DATA_STREAM, AG_UI)
    threads = {page.name: f"thread-{place}" for place, page in enumerate(pages)}
    with ScriptedUpstream(holds, holds, says("Again.")) as upstream:
        env = {"OPENROUTER_BASE_URL": upstream.base_url, "TOOL_LOOP_V2": "true"}
        cut: dict[str, str] = {}
        streams: list[Iterator[bytes]] = []
        with serving(tmp_path, env=env) as process, process.client() as client, ExitStack() as open_pages:
            for page in pages:
                answer = open_pages.enter_context(client.stream("POST", page.path, json=ask(page, threads[page.name])))
                run_id = cut[page.name] = answer.headers["x-run-id"]
                streams.append(answer.iter_raw())  # a dropped iterator would close the connection
                read_until(streams[-1], b"So far")
                until(lambda run_id=run_id: "So far" in str(journal(tmp_path, run_id)))
            process.process.kill()
            process.process.wait()
        with serving(tmp_path, env=env) as process, process.client() as client:
            for page in pages:
                thread, run_id = threads[page.name], cut[page.name]
                assert texts_of(process, thread) == ["Hello!", "So far"]
                run = client.get(f"/api/runs/{run_id}").json()
                assert (run["status"], run["code"]) == ("interrupted", "SERVER_CRASH")
                headers = {"last-event-id": f"{run_id}:0"}
                replayed = client.post(page.path, json=ask(page, thread), headers=headers).content
                assert replayed.count(b"So far") == 1
                check_interrupted(page, replayed)
            assert len(upstream.asked) == len(pages)
            for page in pages:
                client.post(page.path, json=next_message(page, threads[page.name], cut[page.name])).raise_for_status()
                told = [(one["role"], one["content"]) for one in upstream.asked[-1].body["messages"]]
                assert told == [("user", "Hello!"), ("assistant", "So far"), ("user", "Go on.")]
                assert texts_of(process, threads[page.name]) == ["Hello!", "So far", "Go on.", "Again."]


def check_interrupted(page: PageProtocol, stream: bytes) -> None:
    """Check that the client learns of the ending from the replayed stream."""
    if page is AG_UI:
        last = AgUiReader([]).read_stream(stream).last
        assert (last["type"], last["code"]) == ("RUN_ERROR", "SERVER_CRASH")
    else:
        state = state_after(stream.decode().split("\n")[:-1])
        assert state["messages"][1]["status"]["reason"] == "error"
        assert (state["run"]["status"], state["run"]["code"]) == ("interrupted", "SERVER_CRASH")


def next_message(page: PageProtocol, thread: str, run_id: str) -> Json:
    """Return the request with the next message after the answer of a run."""
    if page is not AG_UI:
        return {**ask(page, thread), "commands": [message("Go on.", parentId=run_id)]}
    body = ask(page, thread)
    answer = {"id": run_id, "role": "assistant", "content": "So far"}
    return {**body, "messages": [*body["messages"], answer, {"id": "m2", "role": "user", "content": "Go on."}]}
