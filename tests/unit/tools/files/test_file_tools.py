"""The file tools over a workspace in memory: results for the model, artifacts for people, errors."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.codes import Code
from signalbox.core.tools import ToolContext, ToolOutcome
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.files.create_file import create_file
from signalbox.tools.files.edit_file import edit_file
from signalbox.tools.files.list_files import list_files
from signalbox.tools.files.read_file import read_file
from signalbox.tools.files.retrieve_option import retrieve_option

from tests.support.memory_workspace import MemoryWorkspace

pytestmark = pytest.mark.anyio

TOOLS = [create_file(), edit_file(), read_file(), list_files(), retrieve_option()]
EXECUTOR = ToolExecutor(TOOLS)
PAGE = "<h1>One</h1>\n<p>two</p>\n"
PNG = b"\x89PNG\r\n\x1a\n"


async def outcome_of(name: str, arguments: Any, workspace: MemoryWorkspace | None) -> ToolOutcome:
    """Call a tool as a loop does."""
    wrong = EXECUTOR.check(name, arguments)
    return wrong or await EXECUTOR.run(name, arguments, ToolContext(workspace=workspace))


async def test_a_new_file():
    """The model gets path, version and size; people also get what changed, and neither gets the content again."""
    workspace = MemoryWorkspace()
    outcome = await outcome_of("create_file", {"path": "a.html", "content": PAGE}, workspace)
    assert outcome.result == {"path": "a.html", "version": 1, "lines": 2, "size": 24}
    assert outcome.artifact == {
        "type": "file", "path": "a.html", "version": 1, "size": 24, "lines": 2, "added": 2, "removed": 0,
        "is_new": True,
    }  # fmt: skip
    assert workspace.text("a.html") == PAGE


async def test_an_existing_file_is_replaced_only_on_request():
    """The error names both ways to change the file."""
    workspace = MemoryWorkspace({"a.html": PAGE})
    again = {"path": "a.html", "content": "<h1>2</h1>\n<p>two</p>\n"}
    outcome = await outcome_of("create_file", again, workspace)
    assert outcome.code is Code.INVALID_ARGUMENTS
    assert "a.html exists already (version 1)" in outcome.error
    assert "edit_file" in outcome.error
    assert "overwrite" in outcome.error
    assert workspace.text("a.html") == PAGE

    replaced = await outcome_of("create_file", {**again, "overwrite": True}, workspace)
    assert isinstance(replaced.artifact, dict)
    assert {name: replaced.artifact[name] for name in ("version", "added", "removed", "is_new")} == {
        "version": 2, "added": 1, "removed": 1, "is_new": False,
    }  # fmt: skip
    same = await outcome_of("create_file", {**again, "overwrite": True}, workspace)
    assert isinstance(same.artifact, dict)
    assert (same.artifact["added"], same.artifact["removed"]) == (0, 0)


async def test_an_edit():
    """The result is a diff and the first changed line; people see the numbers."""
    workspace = MemoryWorkspace({"a.html": PAGE})
    edits = [{"old_text": "two", "new_text": "2"}, {"old_text": "2</p>\n", "new_text": "3</p>\n<p>4</p>\n"}]
    outcome = await outcome_of("edit_file", {"path": "a.html", "edits": edits}, workspace)
    assert outcome.result == {
        "path": "a.html",
        "version": 2,
        "diff": "--- a.html\n+++ a.html\n@@ -1,2 +1,3 @@\n <h1>One</h1>\n-<p>two</p>\n+<p>3</p>\n+<p>4</p>",
        "first_changed_line": 2,
    }
    assert outcome.artifact == {
        "type": "file", "path": "a.html", "version": 2, "size": 31, "lines": 3, "added": 2, "removed": 1,
        "is_new": False,
    }  # fmt: skip


async def test_a_failed_edit_leaves_the_file_alone():
    """Either all edits of a call are applied, or none."""
    workspace = MemoryWorkspace({"a.html": PAGE})
    before = len(workspace.versions)
    edits = [{"old_text": "two", "new_text": "2"}, {"old_text": "seven", "new_text": "7"}]
    outcome = await outcome_of("edit_file", {"path": "a.html", "edits": edits}, workspace)
    assert "edits[1].old_text: does not occur" in outcome.error
    assert len(workspace.versions) == before


async def test_calls_at_the_same_time_lose_nothing():
    """Edits of one file wait for each other."""
    workspace = MemoryWorkspace({"a.html": "1 2 3 4"})
    edits = ({"path": "a.html", "old_text": str(n), "new_text": f"{n}{n}"} for n in (1, 2, 3, 4))
    await asyncio.gather(*(outcome_of("edit_file", edit, workspace) for edit in edits))
    assert workspace.text("a.html") == "11 22 33 44"


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        (
            "edit_file",
            {"path": "b", "old_text": "a", "new_text": ""},
            "there is no file 'b'; the files are: a.html, l",
        ),
        ("edit_file", {"path": "logo.png", "old_text": "a", "new_text": "b"}, "logo.png is an image"),
        (
            "edit_file",
            {"path": "a.html", "old_text": "x", "new_text": "", "count": "all"},
            "count: expected an integer",
        ),
        ("edit_file", {"path": "a.html", "edits": ["x"]}, "edits[0]: expected an object"),
        ("create_file", {"path": "logo.png", "content": "x"}, "logo.png is the name of an image"),
        ("create_file", {"path": "../a", "content": "x"}, "path: use a path without empty parts"),
        ("create_file", {"path": "a", "content": ["x"]}, "content: expected a string"),
        ("read_file", {"path": "logo.png"}, "logo.png is an image"),
        ("read_file", {"path": "a.html", "from_line": 3}, "from_line: the file has only 2 lines"),
        ("read_file", {"path": "a.html", "from_line": 0}, "from_line: lines are counted from 1"),
        ("read_file", {"path": "a.html", "from_line": 2, "to_line": 1}, "to_line: must not be smaller than from_line"),
        ("retrieve_option", {"option_number": 1}, "the question has only one answer"),
    ],
)
async def test_errors_say_what_to_do(name: str, arguments: Any, words: str):
    """Nothing is written."""
    workspace = MemoryWorkspace({"a.html": PAGE})
    workspace.add("logo.png", PNG)
    before = len(workspace.versions)
    outcome = await outcome_of(name, arguments, workspace)
    assert outcome.code is Code.INVALID_ARGUMENTS
    assert words in outcome.error
    assert len(workspace.versions) == before


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.spec.name)
async def test_outside_of_a_conversation_there_are_no_files(tool: Any):
    """The tools are on request, are trusted, and have no files without a conversation."""
    spec = tool.spec
    assert (spec.on_request, spec.needs_workspace, spec.untrusted, spec.eager) == (True, True, False, False)
    arguments = {"path": "a", "content": "b", "old_text": "a", "new_text": "b", "option_number": 1}
    given = {name: value for name, value in arguments.items() if name in spec.parameters["properties"]}
    outcome = await outcome_of(spec.name, given, None)
    assert outcome.code is Code.TOOL_UNAVAILABLE


async def test_a_file_is_read_in_parts():
    """A long file is read in whole lines; the note says where to continue."""
    text = "".join(f"line {n} {'x' * 90}\n" for n in range(1, 501))
    workspace = MemoryWorkspace({"a.txt": text})
    read, line = "", 1
    for _ in range(10):
        outcome = await outcome_of("read_file", {"path": "a.txt", "from_line": line}, workspace)
        assert isinstance(outcome.result, dict)
        read += str(outcome.result["content"])
        if "note" not in outcome.result:
            break
        line = int(str(outcome.result["note"]).rstrip(".").split(" ")[-1])
    assert read == text
    part = await outcome_of("read_file", {"path": "a.txt", "from_line": 2, "to_line": 3}, workspace)
    assert isinstance(part.result, dict)
    assert (part.result["lines"], part.result["to_line"]) == (500, 3)
    assert part.result["content"] == "".join(text.splitlines(keepends=True)[1:3])


async def test_a_line_that_is_too_long_is_cut():
    """The model learns that it sees a part of a line."""
    outcome = await outcome_of("read_file", {"path": "a.js"}, MemoryWorkspace({"a.js": "é" * 100_000}))
    assert isinstance(outcome.result, dict)
    assert outcome.result["note"] == "Line 1 is too long for one result, so only its beginning is shown."
    assert 1_000 < len(str(outcome.result["content"])) <= 20_000


async def test_an_empty_file_can_be_read():
    """It has no lines."""
    outcome = await outcome_of("read_file", {"path": "a"}, MemoryWorkspace({"a": ""}))
    assert outcome.result == {"path": "a", "version": 1, "lines": 0, "from_line": 1, "to_line": 0, "content": ""}


async def test_files_are_listed():
    """Text and images, by path, without deleted ones."""
    workspace = MemoryWorkspace({"b.html": PAGE})
    workspace.add("a.png", PNG)
    workspace.add("c.txt", b"gone")
    workspace.delete("c.txt")
    outcome = await outcome_of("list_files", {}, workspace)
    assert outcome.result == {
        "files": [
            {"path": "a.png", "version": 1, "size": 8, "author": "model"},
            {"path": "b.html", "version": 1, "size": 24, "author": "person"},
        ]
    }


async def test_sc11_files_of_another_option():
    """All files of an option, as far as they fit; a long one is read by its path."""
    long = "x\n" * 20_000
    workspace = MemoryWorkspace(variants={1: {"a": "1"}, 2: {"a": PAGE, "long.js": long}})
    outcome = await outcome_of("retrieve_option", {"option_number": 2}, workspace)
    assert outcome.result == {
        "option_number": 2,
        "model": "openai/sim",
        "files": [
            {"path": "a", "version": 1, "size": 24, "content": PAGE},
            {"path": "long.js", "version": 1, "size": 40_000},
        ],
    }
    part = await outcome_of("retrieve_option", {"option_number": 2, "path": "long.js", "from_line": 19_999}, workspace)
    assert isinstance(part.result, dict)
    assert part.result["content"] == "x\nx\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"option_number": 0}, "there is no option 0; the options are 1, 2"),
        ({"option_number": 3}, "there is no option 3; the options are 1, 2"),
        ({"option_number": "two"}, 'option_number: expected an integer, got the string "two"'),
        ({"option_number": 2, "path": "b"}, "the option has no file 'b'; its files are: a"),
    ],
)
async def test_sc11_an_option_that_does_not_exist(arguments: Any, words: str):
    """The error lists the numbers that exist."""
    outcome = await outcome_of("retrieve_option", arguments, MemoryWorkspace(variants={1: {"a": "1"}, 2: {"a": "2"}}))
    assert words in outcome.error


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_NAMES = st.sampled_from(["path", "content", "overwrite", "edits", "old_text", "new_text", "count", "from_line",
                          "to_line", "option_number", "other"])  # fmt: skip
_ARGUMENTS = st.dictionaries(_NAMES, _JSON | st.sampled_from(["a.html", "One", 1, -1, True]), max_size=6)


@given(st.sampled_from([tool.spec.name for tool in TOOLS]), _ARGUMENTS)
async def test_sc13_any_arguments_give_a_result_or_an_error_for_the_model(name: str, arguments: dict[str, Any]):
    """No JSON raises, and no error hides an exception."""
    workspace = MemoryWorkspace({"a.html": PAGE}, variants={1: {}, 2: {"a.html": PAGE}})
    outcome = await outcome_of(name, arguments, workspace)
    assert outcome.success or outcome.code is Code.INVALID_ARGUMENTS
