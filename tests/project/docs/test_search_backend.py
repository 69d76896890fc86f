"""The package of docs/adding-a-search-backend.md is installed into a real server and used."""

import json
import tomllib
from pathlib import Path

from tests.project.docs.pages import page
from tests.support.packages import installed
from tests.support.processes import command, serving
from tests.support.stream_reader import parse_stream

PAGE = page("adding-a-search-backend.md")
GROUP = "signalbox.search_backends"


def books(folder: Path, **more: str) -> dict[str, str]:
    """Install the page's package; return the environment."""
    [code], [project] = PAGE.blocks("python"), map(tomllib.loads, PAGE.blocks("toml"))
    entries = project["project"]["entry-points"][GROUP]
    assert entries == {"books": "signalbox_books:book_search"}
    return {**installed(folder, "signalbox-books", code, {GROUP: entries}), "SEARCH_BACKEND": "Books", **more}


def test_the_backend_that_is_shown_is_searched(tmp_path: Path) -> None:
    """A search returns a numbered source from the package, without a notice."""
    with serving(tmp_path, env=books(tmp_path)) as server, server.client() as client:
        body = {"model": "openai/sim", "prompt": "Search for white whale"}
        heard = parse_stream(client.post("/api/chat/stream", json=body).content)
        listed = {tool["name"]: tool for tool in client.get("/api/tools").json()["tools"]}
    [told] = heard.of("tool_result")
    assert told["result"]["result"] == {
        "query": "white whale",
        "searched": "books",
        "results": [
            {
                "n": 1,
                "title": "Moby Dick",
                "url": "https://books.example/Moby-Dick",
                "snippet": "A captain hunts a white whale across the sea.",
            }
        ],
    }
    assert heard.done["status"] == "complete"
    assert "[1]" in heard.text
    assert "Search a shelf of books; nothing else" in listed["search_web"]["description"]


def test_its_own_reason_is_told(tmp_path: Path) -> None:
    """If the package reports a reason, the server starts without search; the tool list and doctor show the reason."""
    env = books(tmp_path, BOOKS_CLOSED="1")
    with serving(tmp_path, env=env) as server, server.client() as client:
        listed = {tool["name"]: tool for tool in client.get("/api/tools").json()["tools"]}
    reason = "SEARCH_BACKEND is books, and signalbox-books says: the library is closed; unset BOOKS_CLOSED"
    assert listed["search_web"]["unavailable"] == reason
    told = command("doctor", "--json", cwd=tmp_path, env=env)
    assert "the library is closed" in json.dumps(json.loads(told.stdout))


def test_its_settings_may_stand_in_env_file(tmp_path: Path) -> None:
    """A variable of `.env` that is not a Signalbox setting reaches the backend."""
    env = books(tmp_path)
    (tmp_path / ".env").write_text("BOOKS_CLOSED=1\n")
    with serving(tmp_path, env=env) as server, server.client() as client:
        listed = {tool["name"]: tool for tool in client.get("/api/tools").json()["tools"]}
    assert "the library is closed" in listed["search_web"]["unavailable"]
    assert b"the library is closed" in command("doctor", "--json", cwd=tmp_path, env=env).stdout


def test_an_unknown_name_is_refused_with_those_there_are(tmp_path: Path) -> None:
    """The start and doctor reject an unknown backend in one sentence."""
    env = books(tmp_path, SEARCH_BACKEND="bocks")
    for words in (["serve", "--port", "0"], ["doctor"]):
        done = command(*words, cwd=tmp_path, env=env)
        said = (done.stdout + done.stderr).decode()
        assert done.returncode != 0
        assert "SEARCH_BACKEND" in said
        assert "brave, tavily, searxng, ddgs, docs, none, off, books; did you mean books?" in " ".join(said.split())
