"""Reasoning between tags in the text of an answer, split off while it streams (quirk B11)."""

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
def test_b11_text_is_split_whole_and_letter_by_letter(text: str, thought: str, answer: str) -> None:
    """The same text gives the same reasoning and answer, however it is cut."""
    assert _split([text]) == (thought, answer)
    assert _split(list(text)) == (thought, answer)


@given(st.lists(st.sampled_from(["<think>", "</think>", "<", "/think>", "a", " ", "\n"]), max_size=8), st.data())
def test_b11_any_cut_gives_the_same_result(pieces: list[str], data: st.DataObject) -> None:
    """Pieces of any size give the same result as the whole text."""
    text = "".join(pieces)
    cut = data.draw(st.integers(0, len(text)))
    assert _split([text[:cut], text[cut:]]) == _split([text])


def test_b11_a_reasoning_field_turns_tags_off() -> None:
    """Once reasoning arrives in a field, tags are text, and text that was held back is emitted."""
    splitter = ThinkSplitter()
    parts = splitter.split([TextDelta("<thi"), ReasoningDelta("r", "reasoning"), TextDelta("<think>x</think>")])
    assert [getattr(p, "text", "") for p in parts] == ["<thi", "r", "<think>x</think>"]


@pytest.mark.anyio
async def test_b11_the_loop_separates_reasoning_and_answer() -> None:
    """No tag reaches a client, and the history contains only the answer."""
    client = ScriptedClient([[SERVED], [TextDelta("<think>hm")], [TextDelta("m</think>Yes.")], ending()])
    outcome = await run(client, model="deepseek/deepseek-r1")
    assert (outcome.reasoning, outcome.text, outcome.done.status) == ("hmm", "Yes.", "complete")


@pytest.mark.anyio
async def test_b11_a_cut_stream_loses_no_text() -> None:
    """If the stream is cut within a possible tag, the held-back characters are emitted."""
    client = ScriptedClient([[SERVED], [TextDelta("<thi")], UpstreamError(Code.STREAM_CUT)])
    outcome = await run(client, model="qwen/qwen3")
    assert (outcome.text, outcome.done.status) == ("<thi", "interrupted")


@pytest.mark.anyio
async def test_b11_other_families_may_write_tags() -> None:
    """Models of other families may write the tags in their text."""
    client = ScriptedClient([[SERVED], [TextDelta("<think>x</think>")], ending()])
    assert (await run(client, model="openai/gpt-4o")).text == "<think>x</think>"


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_b11_a_closing_tag_in_backticks_is_text(size: int) -> None:
    """Reasoning that mentions the tag does not end there."""
    text = "<think>I close with `</think>`. Then I answer.</think>Hello."
    splitter = ThinkSplitter()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    parts = [part for piece in pieces for part in splitter.split([TextDelta(piece)])] + splitter.close()
    assert "".join(p.text for p in parts if isinstance(p, ReasoningDelta)) == "I close with `</think>`. Then I answer."
    assert "".join(p.text for p in parts if isinstance(p, TextDelta)) == "Hello."
