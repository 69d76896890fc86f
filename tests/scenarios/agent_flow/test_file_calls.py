"""SC-01, SC-06 to SC-08, SC-11, SC-13 and SC-14: what file calls do, and what their failures leave."""

import asyncio
from typing import Any

import pytest
from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext

from tests.scenarios.agent_flow.flow import PAGE, Flows, called, create, outcomes
from tests.scenarios.tool_loop.script import Called, answers, calls
from tests.support.fakes import make_tool


def meeting() -> list[Tool]:
    """Make two tools that each return only once the other one has started."""
    met: list[asyncio.Barrier] = []

    async def work(arguments: JsonObject, context: ToolContext) -> bool:
        met[:] = met or [asyncio.Barrier(2)]
        await met[0].wait()
        return True

    return [make_tool(name, work, timeout=8.0) for name in ("one", "two")]


def test_sc01_independent_calls_overlap(flow: Flows) -> None:
    """Two calls of one step run at the same time: each returns only while the other one is running."""
    stage = flow(calls(called("one"), called("two")), answers("Both."), extra_tools=meeting())
    heard = stage.ask(tools=["one", "two"]).heard
    assert heard.result_codes() == [None, None]


def test_sc06_the_model_and_people_get_separate_results(flow: Flows) -> None:
    """The artifact is for people only; neither result repeats the content."""
    stage = flow(calls(create()), answers("Done."))
    [event] = outcomes(stage.ask())
    assert stage.results() == [{"path": "index.html", "version": 1, "lines": 3, "size": 35}]
    assert event["result"] == {"success": True, "result": stage.results()[0]}
    assert event["artifact"] == {
        "type": "file", "path": "index.html", "version": 1, "size": 35, "lines": 3, "added": 3, "removed": 0,
        "is_new": True,
    }  # fmt: skip


def test_sc07_a_second_create_needs_overwrite(flow: Flows) -> None:
    """Without it the file stays; the model learns how to go on."""
    again = [create(content="<h1>2</h1>"), create(content="<h1>3</h1>", overwrite=True)]
    stage = flow(*(calls(one) for one in (create(), *again)), answers("Done."))
    answered = stage.ask()
    assert answered.heard.result_codes() == [None, "INVALID_ARGUMENTS", None]
    assert "overwrite" in stage.results()[1]["error"]
    assert stage.results()[2]["version"] == 2


def test_sc08_edits_are_exact_and_atomic(flow: Flows) -> None:
    """A match that is not unique is an error with the count, and nothing of its call is written."""
    edits = [{"old_text": "One", "new_text": "1"}, {"old_text": "two", "new_text": "2"}]
    fixed = [edits[0], {**edits[1], "count": 2}]
    steps = [create(), *(called("edit_file", path="index.html", edits=each) for each in (edits, fixed))]
    stage = flow(*map(calls, steps), calls(called("read_file", path="index.html")), answers("Done."))
    answered = stage.ask()
    _, failed, edited, file = stage.results()
    assert failed["error"].startswith("edits[1].old_text: occurs 2 times, so it is not unique")
    assert edited == {
        "path": "index.html",
        "version": 2,
        "diff": "--- index.html\n+++ index.html\n@@ -1,3 +1,3 @@\n-<h1>One</h1>\n-<p>two</p>\n-<p>two</p>\n"
        "+<h1>1</h1>\n+<p>2</p>\n+<p>2</p>",
        "first_changed_line": 1,
    }
    assert file["content"] == "<h1>1</h1>\n<p>2</p>\n<p>2</p>\n"
    artifact = outcomes(answered)[2]["artifact"]
    assert (artifact["version"], artifact["added"], artifact["removed"], artifact["is_new"]) == (2, 3, 3, False)


def test_sc08_calls_of_one_step_lose_no_edit(flow: Flows) -> None:
    """Parallel edits of one file are applied one after another."""
    edits = [called("edit_file", path="a.txt", old_text=n, new_text=n * 2) for n in "123"]
    stage = flow(
        calls(create("a.txt", "1 2 3")), calls(*edits), calls(called("read_file", path="a.txt")), answers("Done.")
    )
    stage.ask()
    assert stage.results()[-1]["content"] == "11 22 33"


def test_sc11_another_option_is_read_by_its_number(flow: Flows) -> None:
    """The files of every answer to a question can be read; another number is an error that names those there are."""
    stage = flow(
        *(calls(create(content="<h1>first</h1>")), answers("One.")),
        *(calls(create(content="<h1>second</h1>")), answers("Two.")),
        *(calls(called("retrieve_option", option_number=1), called("retrieve_option", option_number=3)), answers(".")),
    )
    first = stage.ask()
    second = stage.ask(None, parent_id=first.message_id)
    heard = stage.ask("Take the heading of option 1", parent_id=second.run_id).heard
    found, missing = stage.results()[-2:]
    assert [(file["path"], file["content"]) for file in found["files"]] == [("index.html", "<h1>first</h1>")]
    assert heard.result_codes() == [None, "INVALID_ARGUMENTS"]
    assert "the options are 1, 2" in missing["error"]


BAD_ARGUMENTS: dict[str, tuple[str, str]] = {
    "a list": ('["index.html"]', "INVALID_ARGUMENTS"),
    "null": ("null", "INVALID_ARGUMENTS"),
    "a number": ("7", "INVALID_ARGUMENTS"),
    "a string": ('"index.html"', "INVALID_ARGUMENTS"),
    "no JSON": ("{path: index.html}", "INVALID_ARGUMENTS"),
    "an empty text": ("", "INVALID_ARGUMENTS"),
    "wrong types": ('{"path": ["a"], "content": {"b": 1}}', "INVALID_ARGUMENTS"),
    "count in words": ('{"path": "a", "old_text": "b", "new_text": "c", "count": "all"}', "INVALID_ARGUMENTS"),
    "edits of texts": ('{"path": "a", "edits": ["x"]}', "INVALID_ARGUMENTS"),
    "a truncated object": ('{"path": "index.html", "content": "<h1>On', "ARGUMENTS_CUT"),
}


@pytest.mark.parametrize("name", ["create_file", "edit_file"])
@pytest.mark.parametrize("kind", BAD_ARGUMENTS)
def test_sc13_any_arguments_give_an_error_and_the_run_goes_on(flow: Flows, kind: str, name: str) -> None:
    """Truncation is named as such, nothing is written, and the model's next call works."""
    arguments, code = BAD_ARGUMENTS[kind]
    stage = flow(
        calls(Called(name, arguments)), calls(create("b.txt", "ok")), calls(called("list_files")), answers("Done.")
    )
    heard = stage.ask().heard
    assert (heard.result_codes(), heard.done["status"]) == ([code, None, None], "complete")
    assert [file["path"] for file in stage.results()[-1]["files"]] == ["b.txt"]


@pytest.mark.parametrize("error", [RuntimeError("s3cret"), KeyError("x"), RecursionError(), SystemExit(3)])
def test_sc14_an_exception_of_a_tool_becomes_a_result(flow: Flows, error: BaseException) -> None:
    """Other calls of the step and the run go on; the text of the exception stays inside."""

    def fail(arguments: JsonObject, context: ToolContext) -> Any:
        raise error

    stage = flow(calls(called("broken"), create()), answers("Done."), extra_tools=[make_tool("broken", fail)])
    heard = stage.ask(tools=["broken", "create_file"]).heard
    assert (heard.result_codes(), heard.done["status"], heard.text) == (["TOOL_FAILED", None], "complete", "Done.")
    assert b"s3cret" not in heard.raw
    assert PAGE.count("\n") == stage.results()[1]["lines"]
