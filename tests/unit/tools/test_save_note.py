"""save_note over a scripted store: what is stored, and the result that the model receives."""

from datetime import UTC, datetime
from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.messages import JsonObject
from signalbox.core.tools import SavedNote, ToolContext, ToolOutcome
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.save_note import LONGEST_TEXT, save_note

pytestmark = pytest.mark.anyio

NOW = datetime(2025, 3, 10, tzinfo=UTC)


class Keeper:
    """A note store that records its notes."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, str, datetime]] = []

    async def save(self, title: str, text: str, now: datetime) -> SavedNote:
        self.kept.append((title, text, now))
        return SavedNote("plan.md", "/notes/plan.md")


async def saved(keeper: Keeper, arguments: JsonObject) -> ToolOutcome:
    """Call the tool as a loop does."""
    executor = ToolExecutor([save_note(keeper)])
    wrong = executor.check("save_note", arguments)
    return wrong or await executor.run("save_note", arguments, ToolContext(now=lambda: NOW))


async def test_a_note_is_stored_and_its_url_returned():
    """The note has the run's time, a title in one line, and no invisible characters (quirk G3)."""
    keeper = Keeper()
    outcome = await saved(keeper, {"title": " My\nplan\u200b ", "text": "# One\r\n\n\n\nTwo<|end|>\u202e\n"})
    assert outcome.result == {"saved": True, "title": "My plan", "file": "plan.md", "url": "/notes/plan.md"}
    assert keeper.kept == [("My plan", "# One\n\nTwo< |end| >", NOW)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"title": "", "text": "x"}, "title: must not be empty"),
        ({"title": "\u200b ", "text": "x"}, "title: must not be empty"),
        ({"title": "x", "text": " \n "}, "text: must not be empty"),
        ({"title": "x"}, "text: is required (string)"),
        ({"title": "x", "text": "x" * (LONGEST_TEXT + 1)}, "text: must not be longer than 50,000 characters"),
        ({"title": "x", "text": "y", "path": "/etc"}, "path: no such argument"),
        ({"title": 1, "text": "y"}, "title: expected a string"),
    ],
)
async def test_an_invalid_note_is_an_error(arguments: dict[str, Any], words: str):
    """The error names the field, and nothing is stored."""
    keeper = Keeper()
    outcome = await saved(keeper, arguments)
    assert outcome.code is Code.INVALID_ARGUMENTS
    assert words in outcome.error
    assert keeper.kept == []


def test_it_is_not_eager_and_mentions_search():
    """It has a side effect; its description mentions search only if search finds notes."""
    assert save_note(Keeper()).spec.eager is False
    assert "search_web" not in save_note(Keeper()).spec.description
    assert "search_web finds it later" in save_note(Keeper(), found_by_search=True).spec.description


async def test_without_a_folder_the_tool_is_unavailable():
    """It is listed with the reason, and a call returns an error."""
    executor = ToolExecutor([save_note(None, "the notes folder cannot be made")])
    assert executor.spec("save_note") is None
    outcome = await executor.run("save_note", {"title": "x", "text": "y"}, ToolContext())
    assert outcome.code is Code.TOOL_UNAVAILABLE
    assert "the notes folder cannot be made" in outcome.error
