"""Notes that a message asks to save."""

from typing import Any

import pytest
from signalbox.simulator.model.notes import Note, saves_notes, split_note
from signalbox.simulator.model.turns import Call

from tests.unit.simulator.requests import CALCULATE, SEARCH, TOOLS, tool
from tests.unit.simulator.test_model import answer_to, call_message, result, turn

SAVE = tool("save_note", ["title", "text"], title="string", text="string")
SAVED = {"saved": True, "title": "Buy milk", "file": "buy-milk.md", "url": "/notes/buy-milk.md"}


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("save a note: buy milk", Note("Buy milk", "buy milk")),
        (
            "Take a note that the bins go out on Tuesday.",
            Note("The bins go out on Tuesday", "the bins go out on Tuesday."),
        ),
        ("Please make a quick note to call Ann", Note("Call Ann", "call Ann")),
        (
            'Could you save this note: "Ann\'s birthday is in May"',
            Note("Ann's birthday is in May", "Ann's birthday is in May"),
        ),
        ("Save a note called Groceries: milk\n- eggs", Note("Groceries", "milk\n- eggs")),
        (
            "Save a note about the boiler: it leaks. Then call Bob: 555",
            Note("The boiler", "it leaks. Then call Bob: 555"),
        ),
        ("Take a note - the train is at 10:30", Note("The train is at 10:30", "the train is at 10:30")),
        ("Save note:milk", Note("Milk", "milk")),
        ("Save this as a note: milk", Note("Milk", "milk")),
        ("How do I open a file and save a note to disk?", None),
        ("How do I save a note? Answer as a list.", None),
        ("What did I note: the milk?", None),
        ("Call save_note with a title", None),
    ],
)
def test_parsing_notes(question: str, note: Note | None) -> None:
    """The rest of the message is the note, even if it contains questions or tool names."""
    assert split_note(question) == (("", note) if note else (question, None))


def test_a_note_is_saved() -> None:
    """The offered tool is called once, and the answer has title and file."""
    question = "save a note: buy milk"
    [call] = turn(question, tools=[*TOOLS, SAVE]).calls
    assert call == Call("save_note", {"title": "Buy milk", "text": "buy milk"})
    text = answer_to(question, {"success": True, "result": SAVED}, tools=[*TOOLS, SAVE])
    assert text == "I saved the note “Buy milk” as `buy-milk.md`."


def test_the_text_of_a_note_is_not_a_question() -> None:
    """Arithmetic, tools, URLs and programs in a note stay text."""
    question = "Save a note: write a script that uses calculate on 17*23, see https://example.org/a and search for b"
    reader = tool("read_url", ["url"], url="string")
    calls = turn(question, tools=[*TOOLS, reader, SAVE]).calls
    assert [call.name for call in calls] == ["save_note"]
    assert "```" not in answer_to(question, SAVED, tools=[*TOOLS, reader, SAVE])


def test_notes_after_other_questions() -> None:
    """The search has its own words, and the answer its source."""
    question = "Search for the clamp and save a note: buy milk"
    tools = [SEARCH, SAVE]
    found = {"results": [{"n": 3, "title": "The clamp", "url": "https://example.org/3", "snippet": "A clamp holds."}]}
    first = turn(question, tools=tools).calls
    assert first == (Call("search_web", {"query": "clamp"}),)
    second = turn(question, call_message(first[0]), result("c1", found), tools=tools)
    assert [call.name for call in second.calls] == ["save_note"]
    text = answer_to(question, found, SAVED, tools=tools)
    assert "I saved the note “Buy milk”" in text
    assert "A clamp holds. [3]" in text


def test_other_tools_that_save_notes() -> None:
    """A client's tool is recognized by its name, and its other required arguments are filled."""
    theirs = tool("createNote", ["body", "pinned"], body="string", pinned="boolean", subject="string")
    others = [tool("list_notes", []), theirs]
    [call] = turn("Save a note: buy milk", tools=others).calls
    assert call == Call("createNote", {"body": "buy milk", "pinned": True, "subject": "Buy milk"})
    assert not saves_notes("annotate")


@pytest.mark.parametrize(
    "fields",
    [{"tools": None}, {"tools": [SEARCH, CALCULATE]}, {"tools": [SAVE], "tool_choice": "none"}],
)
def test_notes_without_a_tool(fields: dict[str, Any]) -> None:
    """The answer says that the note is not saved, and nothing is searched for."""
    said = turn("Take a note: buy milk", **fields)
    assert said.calls == ()
    assert said.text == "I could not save the note “Buy milk”: this request offers no tool that saves notes."
    assert "No tool is needed" not in said.reasoning


def test_questions_with_a_note_that_cannot_be_saved() -> None:
    """The calculation has its result, and the answer says why the note is not saved."""
    sums = {"success": True, "result": {"expression": "17*23", "result": 391}}
    text = answer_to("What is 17*23? And save a note: buy milk", sums)
    assert text.startswith("`17*23` = **391**")
    assert "I could not save the note “Buy milk”" in text


@pytest.mark.parametrize(
    "question", ["Save a note", "Save that as a note.", "Please take a note for me.", "Save a note of this!"]
)
def test_notes_without_text(question: str) -> None:
    """An empty note is not saved; the answer asks for its text."""
    said = turn(question, tools=[SAVE])
    assert said.calls == ()
    assert said.text.startswith("What should the note say?")


@pytest.mark.parametrize(
    "failed", [{"success": False, "error": "The notes folder is full"}, {"saved": False, "reason": "full"}]
)
def test_failed_notes(failed: dict[str, Any]) -> None:
    """The answer has the tool's error, and the tool is not called again."""
    text = answer_to("Save a note: buy milk", failed, tools=[SAVE])
    assert "full" in text
    assert "I saved" not in text
