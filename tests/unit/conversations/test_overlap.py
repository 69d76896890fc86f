"""The text that a continuation adds; the page's tests read the same cases."""

import json
from pathlib import Path
from typing import Any

import pytest
from signalbox.conversations.overlap import WINDOW, added

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("overlaps.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_adds(case: dict[str, Any]) -> None:
    """Only repeated words are removed."""
    assert added(case["before"], case["more"]) == case["adds"]


def test_a_repetition_of_more_than_the_window_is_kept() -> None:
    """A repetition longer than the window is kept."""
    words = " ".join(f"word{n} and" for n in range(WINDOW))
    assert added(words, words) == words
