"""LLM03 Excessive Agency: a model can use only offered tools, within their schema and limits."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.security.hostile import obeys, page_tool, tool_messages
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import chunk, sends

INVENTED = [
    "shell", "bash", "python", "exec", "functions.shell", "multi_tool_use.parallel", "default_api.delete_file",
    "../read_url", "read_url\n", "READ_URL", "save_note ", "__import__", "calculate.__class__", "tool\u200b",
    "сalculate", "search_web'; DROP TABLE runs;--",
]  # fmt: skip


@pytest.mark.parametrize("loop", [True, False], ids=["v2", "legacy"])
def test_g03_only_offered_tools_are_ever_run(start_app: StartApp, loop: bool) -> None:
    """A tool that the request does not offer is not executed: invented, misspelt or not named."""
    ran: list[str] = []
    tools = [page_tool(lambda: ran.append("secret") or "x", "secret_tool")]
    app, _ = start_app(
        obeys([(name, {}) for name in INVENTED], ("secret_tool", {}), ("save_note", {"title": "x", "text": "y"})),
        settings={"tool_loop_v2": loop},
        extra_tools=tools,
    )
    heard = app.ask("Go.", tools=["calculate"])
    assert set(heard.result_codes()) == {"UNKNOWN_TOOL"}
    assert not heard.of("tool_executing")
    assert ran == []


def test_g03_without_tools_on_offer_nothing_is_run(start_app: StartApp) -> None:
    """Without tools, or with choice `none`, calls from a provider are not executed."""
    ran: list[str] = []
    tools = [page_tool(lambda: ran.append("ran") or "x")]
    for body in ({"tools": []}, {"tool_choice": "none"}):
        app, _ = start_app(obeys(("open_page", {})), extra_tools=tools)
        assert not app.ask("Go.", **body).of("tool_executing")
    assert ran == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"expression": "1", "shell": "rm -rf /"},
        {"expression": {"$ne": None}},
        {"expression": ["1"]},
        {"__proto__": {"x": 1}, "expression": "1"},
        {},
    ],
)
def test_g03_arguments_outside_the_schema_run_nothing(start_app: StartApp, arguments: dict[str, Any]) -> None:
    """Unknown fields and wrong types give the model an error and do not reach the tool."""
    app, _ = start_app(obeys(("calculate", arguments)))
    heard = app.ask("Go.")
    assert heard.result_codes() == ["INVALID_ARGUMENTS"]
    assert not heard.of("tool_executing")


@pytest.mark.parametrize(
    "title",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "..\\..\\x",
        "a/../../b",
        ".env",
        "con",
        "x\x00.md",
        "%2e%2e%2f",
        "~root",
        "…/…",
    ],
)
def test_g03_a_note_stays_in_its_folder(start_app: StartApp, tmp_path: Path, title: str) -> None:
    """Any title creates one new file in the notes folder, and replaces none."""
    app, _ = start_app(
        obeys(("save_note", {"title": title, "text": "y"}), ("save_note", {"title": title, "text": "z"}))
    )
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    codes = app.ask("Go.").result_codes()
    made = set(tmp_path.rglob("*.md")) - before
    assert codes == [None, None]
    assert len(made) == 2
    assert {path.parent for path in made} == {tmp_path / "data" / "notes"}
    assert sorted(path.read_text(encoding="utf-8").rstrip()[-1] for path in made) == ["y", "z"]


@pytest.mark.parametrize(
    "url",
    [
        "/etc/passwd",
        "/guide/../../etc/passwd",
        "/guide/%2e%2e/%2e%2e/etc/passwd",
        "/guide//etc/passwd",
        "/guide/.git/config",
        "/notes/../../.env",
        "/notes/\x00.md",
        "/api/runs",
        "//127.0.0.1/x",
        "file:///etc/passwd",
    ],
)
def test_g03_reading_a_page_reads_no_file_of_the_machine(start_app: StartApp, url: str) -> None:
    """Only documentation pages and notes are read from disk."""
    app, upstream = start_app(obeys(("read_url", {"url": url})))
    assert app.ask("Go.").result_codes()[0] in ("TOOL_FAILED", "INVALID_ARGUMENTS")
    assert "root:" not in tool_messages(upstream.asked[-1].body)[0]


def test_g03_a_call_of_a_step_that_broke_saves_nothing(start_app: StartApp, tmp_path: Path) -> None:
    """A tool with side effects waits for its step to end well, so a cut step changes nothing."""
    function = {"name": "save_note", "arguments": json.dumps({"title": "x", "text": "y"})}
    call = {"index": 0, "id": "c", "type": "function", "function": function}
    app, _ = start_app(sends(chunk({"content": "I note it."}), chunk({"tool_calls": [call]})))
    heard = app.ask("Go.")
    assert heard.done["status"] == "interrupted"
    assert not heard.of("tool_executing")
    assert not [*(tmp_path / "data").rglob("*.md")]
