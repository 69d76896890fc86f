"""Transient quirks, which are over at the second attempt."""

import httpx
import pytest
from signalbox.simulator.quirks import QUIRKS

from tests.unit.simulator.quirks.answers import is_search, post


@pytest.mark.parametrize("quirk", ["a13", "a13-empty", "a13-call", "a13-unexpected", "a13-error", "a11-unknown"])
def test_second_attempts_at_calls(client: httpx.Client, quirk: str) -> None:
    """A repeated request gets a valid call, even after a correction; with `-always` it never does."""
    asked = f"Search for second attempts at {quirk}"
    note = {"role": "user", "content": "Your last call could not be read. Try again."}
    assert not post(client, quirk, asked).body.count(b'"arguments":"{') or quirk == "a13-call"
    again = post(client, quirk, asked, note)
    assert is_search(again)
    assert again.finishes[-1] == "tool_calls"
    if f"{quirk}-always" in QUIRKS:
        last = [post(client, f"{quirk}-always", asked) for _ in range(3)][-1]
        assert last.finishes[-1] != "tool_calls"


@pytest.mark.parametrize("quirk", ["d02-once", "d02-early-once", "d07", "e01-once", "e01-429-once", "f02", "f02-tool"])
def test_second_attempts_at_answers(client: httpx.Client, quirk: str) -> None:
    """The second attempt is answered, and the third shows the quirk again."""
    fields = {"tool_choice": "none"} if quirk.startswith("d0") else {}
    attempts = [post(client, quirk, f"Search for tries of {quirk}", **fields) for _ in range(3)]
    is_ordinary = [not a.error and bool(a.text or a.calls) and "cannot browse" not in a.text for a in attempts]
    assert is_ordinary == [False, True, False]
