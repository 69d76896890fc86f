"""B11: reasoning that a host left in the answer, sorted out as it streams."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.chat.answer.think_tags import ThinkSplitter
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.parts import ReasoningDelta, StreamPart, TextDelta

from tests.support.fakes import SERVED, ScriptedClient, ending
from tests.support.loop_runs import run

CASES = [
    ("<think>why</think>\n\nBecause.", "why", "Because."),
    ("\n<think>\nwhy\n</think>Because.", "\nwhy\n", "Because."),
    ("<think>never closed", "never closed", ""),
    ("</think>\nBecause.", "", "Because."),
    ("Because <think> is a tag.", "", "Because <think> is a tag."),
    ("<thin air", "", "<thin air"),
    ("<b>bold</b>", "", "<b>bold</b>"),
    ("<think>a < b </ c</think>x", "a < b </ c", "x"),
    ("<", "", "<"),
    ("", "", ""),
]


def _split(pieces: list[str]) -> tuple[str, str]:
    splitter = ThinkSplitter()
    parts: list[StreamPart] = []
    for piece in pieces:
        parts += splitter.split([TextDelta(piece)])
    parts += splitter.close()
    thought = "".join(p.text for p in parts if isinstance(p, ReasoningDelta))
    return thought, "".join(p.text for p in parts if isinstance(p, TextDelta))


@pytest.mark.parametrize(("text", "thought", "answer"), CASES)
def test_b11_text_is_sorted_whole_and_letter_by_letter(text: str, thought: str, answer: str) -> None:
    """The same text gives the same reasoning and answer, however it is cut."""
    assert _split([text]) == (thought, answer)
    assert _split(list(text)) == (thought, answer)


@given(st.lists(st.sampled_from(["<think>", "</think>", "<", "/think>", "a", " ", "\n"]), max_size=8), st.data())
def test_b11_no_split_changes_what_is_said(pieces: list[str], data: st.DataObject) -> None:
    """Any way of cutting a text gives what the whole text gives."""
    text = "".join(pieces)
    cut = data.draw(st.integers(0, len(text)))
    assert _split([text[:cut], text[cut:]]) == _split([text])


def test_b11_text_is_text_once_the_host_reasons_in_its_own_field() -> None:
    """Structured reasoning switches the tags off, and what was held back is not lost."""
    splitter = ThinkSplitter()
    parts = splitter.split([TextDelta("<thi"), ReasoningDelta("r", "reasoning"), TextDelta("<think>x</think>")])
    assert [getattr(p, "text", "") for p in parts] == ["<thi", "r", "<think>x</think>"]


@pytest.mark.anyio
async def test_b11_a_family_that_does_this_shows_reasoning_and_answer_apart() -> None:
    """Through the loop: the tags reach nobody, and the history holds the answer alone."""
    client = ScriptedClient([[SERVED], [TextDelta("<think>hm")], [TextDelta("m</think>Yes.")], ending()])
    outcome = await run(client, model="deepseek/deepseek-r1")
    assert (outcome.reasoning, outcome.text, outcome.done.status) == ("hmm", "Yes.", "complete")


@pytest.mark.anyio
async def test_b11_what_is_held_back_is_told_when_the_stream_is_cut() -> None:
    """A cut in the middle of what may be a tag loses no letter."""
    client = ScriptedClient([[SERVED], [TextDelta("<thi")], UpstreamError(Code.STREAM_CUT)])
    outcome = await run(client, model="qwen/qwen3")
    assert (outcome.text, outcome.done.status) == ("<thi", "interrupted")


@pytest.mark.anyio
async def test_b11_other_families_keep_their_text() -> None:
    """A model of a family that does not do this may write the tags."""
    client = ScriptedClient([[SERVED], [TextDelta("<think>x</think>")], ending()])
    assert (await run(client, model="openai/gpt-4o")).text == "<think>x</think>"


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_b11_a_closing_tag_in_backticks_is_spoken_of(size: int) -> None:
    """Thinking about the tag does not end the thinking (B11)."""
    text = "<think>I close with `</think>`. Then I answer.</think>Hello."
    splitter = ThinkSplitter()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    parts = [part for piece in pieces for part in splitter.split([TextDelta(piece)])] + splitter.close()
    assert "".join(p.text for p in parts if isinstance(p, ReasoningDelta)) == "I close with `</think>`. Then I answer."
    assert "".join(p.text for p in parts if isinstance(p, TextDelta)) == "Hello."
