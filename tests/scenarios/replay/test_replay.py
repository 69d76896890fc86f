"""`signalbox replay` beside a running server: it replays runs, saves and files without repeating side effects."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from signalbox.chat.loops.registry import LOOPS
from signalbox.core.events import AnyEvent, Content, Success, ToolResult
from signalbox.core.ports import Emit, Loop
from signalbox.encoders.check import first_stream_fault

from tests.scenarios.replay.conftest import Command, Folder, ask
from tests.scenarios.tool_loop.scenario import finds
from tests.support.loop_runs import FunctionLoop
from tests.support.packages import installed
from tests.support.postgres import Server, running
from tests.support.processes import command, serving
from tests.support.scripted_upstream import Script, ScriptedUpstream, call_chunk, calls_then, says


@pytest.fixture
def postgres() -> Iterator[Server]:
    """Run a separate PostgreSQL for this test."""
    yield from running()


def rows(folder: Path) -> list[int]:
    """Count the rows of each table of the database."""
    with sqlite3.connect(folder / "data" / "signalbox.db") as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names]


def test_a_run_is_made_again_on_the_other_loop(folder: Folder) -> None:
    """While the server runs: equal calls, results and text, a valid stream, and nothing stored."""
    before = rows(folder.path)
    stream = folder.path / "again.sse"
    done = command("replay", folder.run, "--events", str(stream), "--json", cwd=folder.path)
    assert (done.returncode, done.stderr) == (0, b"")
    report = json.loads(done.stdout)
    original, again = report["original"], report["replay"]
    assert (original["loop"], again["loop"]) == ("legacy", "v2")
    assert [call["name"] for call in again["calls"]] == ["get_current_time", "calculate", "search_web"]
    # The time has passed since, so the original time can only come from the journal.
    assert [call["result"] for call in again["calls"]] == [call["result"] for call in original["calls"]]
    assert again["text"] == original["text"]
    assert {one["kind"] for one in report["differences"]} <= {"order"}
    assert report["unrecorded"] == []
    assert command("check-stream", str(stream), cwd=folder.path).returncode == 0
    assert rows(folder.path) == before


def test_a_comparison_in_words(folder: Folder, run_command: Command) -> None:
    """The comparison shows both runs, their calls and differences; another model keeps the loop."""
    said = run_command("replay", folder.run, "--model", "anthropic/sim", cwd=folder.path)
    lines = {line.split()[0]: line.split()[1:] for line in said.out.splitlines() if line}
    assert said.status == 0
    assert lines["loop"] == ["legacy", "legacy"]
    assert lines["model"] == ["openai/sim", "anthropic/sim"]
    assert lines["ending"] == ["complete", "complete"]
    assert '3. search_web {"query":"pulleys"}: ok' in said.out
    assert "The model was called again" in said.out


def test_a_model_that_draws_draws_in_a_replay(folder: Folder, run_command: Command) -> None:
    """The current catalogue decides which modalities are requested, as in a run."""
    stream = folder.path / "drawn.sse"
    model = "google/gemini-2.5-flash-image"
    said = run_command("replay", folder.run, "--model", model, "--events", str(stream), cwd=folder.path)
    assert said.status in (0, 1), said.err
    assert '"images":[{"url":"data:image/png;base64,' in stream.read_text()


def test_the_stream_may_have_standard_output_to_itself(folder: Folder, run_command: Command) -> None:
    """With the stream on standard output, the comparison goes to standard error."""
    said = run_command("replay", folder.run, "--events", "-", cwd=folder.path)
    assert first_stream_fault(said.out.encode())[0] is None
    assert "differences" in said.err


def test_a_question_of_a_conversation_is_asked_with_what_came_before(folder: Folder, run_command: Command) -> None:
    """Equal input tokens show that the history is included; a save finds its conversation, too."""
    for name in (folder.second, folder.save_id):
        said = run_command("replay", name, "--json", cwd=folder.path)
        original, again = said.report["original"], said.report["replay"]
        assert (again["text"], again["cost"]) == (original["text"], original["cost"])
        assert {one["kind"] for one in said.report["differences"]} <= {"order"}
        assert said.err == ""


def test_a_save_is_carried_to_another_machine(folder: Folder, tmp_path: Path, run_command: Command) -> None:
    """A file can be replayed without a database; the output says that its conversation is missing."""
    said = run_command("replay", str(folder.save), "--json", cwd=tmp_path)
    assert said.report["original"]["calls"] != []
    assert [call["result"] for call in said.report["replay"]["calls"]] == [
        call["result"] for call in said.report["original"]["calls"]
    ]
    assert "earlier messages are missing" in said.err
    assert {one["class"] for one in said.report["differences"]} == {"expected"}
    assert [*tmp_path.iterdir()] == []


def _result_without_call(*_: object, **__: object) -> Loop:
    """Make a loop that emits a result for a call that was never announced."""

    @FunctionLoop
    async def loop(emit: Emit[list[AnyEvent]]) -> None:
        emit([Content("Hi."), ToolResult("c", "f", Success(True, 1), "other", "secondary")])

    return loop


def test_a_stream_that_breaks_the_contract_ends_in_one(
    folder: Folder, run_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either command reports a broken contract before all other differences."""
    monkeypatch.setitem(LOOPS, "v2", _result_without_call)
    said = run_command("replay", folder.run, "--json", cwd=folder.path)
    assert (said.status, said.report["differences"][0]["kind"]) == (1, "contract")
    assert "never announced" in said.report["replay"]["fault"]
    compared = run_command("parity", folder.run, cwd=folder.path)
    assert (compared.status, compared.out.startswith(f"DIFFERS   {folder.run} openai/sim: contract")) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["0" * 32], "There is no run, snapshot or file"),
        (["odd.json"], "is not a snapshot as returned by GET /api/saves/ID"),
        (["half.json"], "is not a snapshot as returned by GET /api/saves/ID"),
        (["later.json"], "cannot be asked again: colour is not valid"),
        (["RUN", "--model", "unknown/nothing"], "The model list has no model"),
        (["RUN", "--events", "no/such/folder"], "no/such/folder cannot be read or written"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(
    folder: Folder, run_command: Command, arguments: list[str], words: str
) -> None:
    """An error has exit status 2 and no traceback."""
    whole = json.loads(folder.save.read_bytes())
    later = {**whole, "question": {**whole["question"], "colour": "red"}}
    files = {"odd": {"question": {}}, "half": {**whole, "trace": {"loop": "v3"}}, "later": later}
    for name, value in files.items():
        (folder.path / f"{name}.json").write_text(json.dumps(value))
    said = run_command("replay", *[folder.run if one == "RUN" else one for one in arguments], cwd=folder.path)
    assert (said.status, said.out) == (2, "")
    assert words in said.err


def _of_events(change: Callable[[list[dict[str, Any]]], object]) -> Callable[[dict[str, Any]], object]:
    return lambda save: change(save["events"])


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_of_events(lambda events: events[1].update(seq="two")), "its event 2 cannot be read (Expected `int`"),
        (_of_events(lambda events: events[0].update(seq=-1)), "seq -1 follows 0"),
        (_of_events(lambda events: events[2].update(seq=1)), "it must rise"),
        (
            _of_events(lambda events: events[0].update(type="dream")),
            "its event 1 cannot be read (Invalid value 'dream'",
        ),
        (_of_events(lambda events: events[0].update(at=None)), "`$.at`"),
        (_of_events(lambda events: events.pop()), "its last event is not done"),
        (_of_events(lambda events: events.clear()), "its last event is not done"),
        (lambda save: save.update(events="none"), "`$.events`"),
        (lambda save: save.update(events=[1]), "`$.events[0]`"),
        (lambda save: save.update(run_id=7), "`$.run_id`"),
        (lambda save: save.update(question=[]), "`$.question`"),
        (lambda save: save["trace"].update(attempts=3), "`$.attempts`"),
    ],
)
def test_a_file_that_is_spoilt_says_where(
    folder: Folder, tmp_path: Path, run_command: Command, spoil: Callable[[dict[str, Any]], object], words: str
) -> None:
    """Either command names the file and its fault, with exit status 2."""
    save = json.loads(folder.save.read_bytes())
    spoil(save)
    (tmp_path / "spoilt.json").write_text(json.dumps(save))
    for verb in ("replay", "parity"):
        said = run_command(verb, "spoilt.json", cwd=tmp_path)
        assert (said.status, said.out) == (2, "")
        assert said.err.startswith("signalbox: spoilt.json is not a snapshot as returned by GET /api/saves/ID: ")
        assert words in said.err


def test_a_run_is_found_in_postgresql(postgres: Server, tmp_path: Path, run_command: Command) -> None:
    """With DATABASE_URL, runs and conversations are found; an unreachable database gives an error."""
    env = {"DATABASE_URL": postgres.new_database()}
    with serving(tmp_path, env=env) as server, server.client() as client:
        run = ask(client, "What are pulleys?", conversation_id="talk")
        said = run_command("replay", run, "--json", cwd=tmp_path, **env)
        assert said.report["replay"]["calls"] == said.report["original"]["calls"] != []
    assert not (tmp_path / "data" / "signalbox.db").exists()
    postgres.stop()
    gone = run_command("replay", run, cwd=tmp_path, **env)
    assert (gone.status, "cannot be read" in gone.err) == (2, True)


def test_without_a_database_there_is_a_sentence(tmp_path: Path, run_command: Command) -> None:
    """Looking for a missing database gives an error and creates none."""
    said = run_command("replay", "0" * 32, cwd=tmp_path)
    assert (said.status, "There is no database" in said.err) == (2, True)
    assert [*tmp_path.iterdir()] == []


def test_a_tool_that_is_gone_is_named(tmp_path: Path, run_command: Command) -> None:
    """A run with an uninstalled plugin's tool is replayed with the result from the journal."""
    code = (
        "from signalbox.core.tools import Tool, ToolSpec\n"
        "async def _run(arguments, context):\n    return {'sum': 7}\n"
        "def dice():\n"
        "    spec = ToolSpec('roll_dice', 'Roll dice.', {'type': 'object', 'properties': {}, 'required': []})\n"
        "    return Tool(spec, _run)\n"
    )
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    env = installed(plugins, "acme-dice", code, {"signalbox.tools": {"dice": "acme_dice:dice"}})
    with serving(tmp_path, env=env) as server, server.client() as client:
        run = ask(client, "Use roll_dice", tools=["roll_dice", "calculate"])
    said = run_command("replay", run, cwd=tmp_path)
    assert said.err.startswith(f"signalbox: Not installed here, but offered in {run}: roll_dice. The model")
    assert "calculate" not in said.err
    beside = command("replay", run, cwd=tmp_path, env=env)
    assert b"Not installed" not in beside.stderr


# --- a provider and tools whose calls are counted ---------------------------------------------------------------------

NOTE = call_chunk("save_note", '{"title":"Pulleys","text":"They lift."}')
SEARCH = call_chunk("search_web", '{"query":"pulleys"}', index=1, call_id="call_2")
NEW = call_chunk("search_web", '{"query":"gears"}')


def run_twice(path: Path, *scripts: Script) -> tuple[dict[str, Any], str, ScriptedUpstream, ScriptedUpstream]:
    """Run a question with tools that have side effects, replay it, and return what each of them did."""
    with ScriptedUpstream(*scripts) as upstream, ScriptedUpstream(models=finds, path="") as engine:
        env = {
            "OPENROUTER_BASE_URL": upstream.base_url,
            "OPENROUTER_API_KEY": "sk-of-a-test",
            "SEARXNG_URL": engine.base_url,
            "TOOL_LOOP_V2": "true",
        }
        with serving(path, env=env) as server, server.client() as client:
            run = ask(client, "Search for pulleys and keep a note.")
        done = command("replay", run, "--loop", "v2", "--json", cwd=path, env=env)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), done.stderr.decode(), upstream, engine


def test_no_tool_is_run_again(tmp_path: Path) -> None:
    """The replay writes no second note, sends no second search, and gives a new call no result."""
    step, told_so = calls_then(NOTE, SEARCH), says("Done.")
    report, said, upstream, engine = run_twice(tmp_path, step, told_so, step, calls_then(NEW), told_so)
    assert len([*(tmp_path / "data" / "notes").iterdir()]) == 1
    assert len(engine.catalogues) == 1
    assert [call["code"] for call in report["replay"]["calls"]] == [None, None, "NOT_RECORDED"]
    assert report["replay"]["calls"][:2] == report["original"]["calls"]
    assert report["unrecorded"] == ["search_web"]
    # The model received the same messages and the same tools.
    first, again = upstream.asked[0].body, upstream.asked[2].body
    assert (again["messages"], again["tools"], again["model"]) == (first["messages"], first["tools"], first["model"])
    assert "has no such call" in upstream.asked[4].body["messages"][-1]["content"]
    assert "which costs money" in said
    assert "It cost" in said
