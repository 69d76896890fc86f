"""Decoding reasoning, and merging reasoning details_of."""

import json

import pytest
from signalbox.core.parts import (
    Details,
    HiddenReasoning,
    ReasoningDelta,
    TextDelta,
)

from tests.unit.wire.openrouter.chat_chunks import chunk, decode, decoded, details_of


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_by_either_name(field: str) -> None:
    """Reasoning text has two field names; the part states which (quirk B10)."""
    assert decoded({field: "Hm."}) == [ReasoningDelta("Hm.", field)]


def test_reasoning_as_an_object() -> None:
    """Some providers wrap reasoning in an object (PS-09)."""
    assert decoded({"reasoning": {"content": "Hm."}}, {"reasoning": {"text": "So."}}) == [
        ReasoningDelta("Hm.", "reasoning"),
        ReasoningDelta("So.", "reasoning"),
    ]


def test_reasoning_in_several_fields_counts_once() -> None:
    """The same text in up to three fields of one delta is shown once; the details_of still go back (quirk B10)."""
    detail = {"type": "reasoning.text", "text": "Hm.", "index": 0}
    parts = decoded({"reasoning": "Hm.", "reasoning_content": "Hm.", "reasoning_details": [detail]})
    assert parts[0] == ReasoningDelta("Hm.", "reasoning")
    assert [type(part) for part in parts] == [ReasoningDelta, Details]


def test_an_empty_field_yields_to_the_next() -> None:
    """An empty or null `reasoning` beside a full `reasoning_content` hides nothing."""
    assert decoded({"reasoning": "", "reasoning_content": "Hm."}, {"reasoning": None, "reasoning_content": "So."}) == [
        ReasoningDelta("Hm.", "reasoning_content"),
        ReasoningDelta("So.", "reasoning_content"),
    ]


def test_reasoning_only_in_details() -> None:
    """Text and summary of details_of are shown where no plain field is."""
    parts = decoded(
        {"reasoning_details": [{"type": "reasoning.text", "text": "a"}, {"type": "reasoning.summary", "summary": "b"}]}
    )
    assert parts[0] == ReasoningDelta("ab")


def test_encrypted_details_are_hidden_reasoning() -> None:
    """Encrypted reasoning gives a part without text (quirk B12)."""
    assert decoded({"reasoning_details": [{"type": "reasoning.encrypted", "data": "xyz"}]})[0] == HiddenReasoning()


def test_empty_details_give_no_part() -> None:
    """Empty and null `reasoning_details` give no part."""
    assert decoded({"reasoning_details": [], "reasoning": None, "content": "a"}, {"reasoning_details": None}) == [
        TextDelta("a")
    ]


def test_text_details_merge_by_type_and_index() -> None:
    """Pieces of one index become one item, its text in order (quirk B3)."""
    merged = details_of(
        {"type": "reasoning.text", "text": "The ", "index": 0, "format": "anthropic-claude-v1"},
        {"type": "reasoning.text", "text": "user", "index": 0, "format": "anthropic-claude-v1"},
        {"type": "reasoning.text", "text": "Next", "index": 1},
    )
    assert merged == [
        {"type": "reasoning.text", "text": "The user", "index": 0, "format": "anthropic-claude-v1"},
        {"type": "reasoning.text", "text": "Next", "index": 1},
    ]


def test_the_last_delta_with_only_a_signature_joins_its_text() -> None:
    """Anthropic's signature comes alone, at the end; nulls and blanks beside it erase nothing (quirk B3)."""
    merged = details_of(
        {"type": "reasoning.text", "text": "Hm", "signature": None, "index": 0},
        {"type": "reasoning.text", "text": ".", "index": 0},
        {"type": "reasoning.text", "text": None, "signature": "EqQB", "index": 0},
    )
    assert merged == [{"type": "reasoning.text", "text": "Hm.", "signature": "EqQB", "index": 0}]


def test_summary_and_encrypted_of_one_index_stay_two() -> None:
    """OpenAI's summary and its encrypted twin share an index, not a type."""
    merged = details_of(
        {"type": "reasoning.summary", "summary": "**A", "index": 0},
        {"type": "reasoning.summary", "summary": "**", "index": 0},
        {"type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1", "index": 0},
    )
    assert merged == [
        {"type": "reasoning.summary", "summary": "**A**", "index": 0},
        {"type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1", "index": 0},
    ]


def test_two_encrypted_items_with_other_ids_at_one_index_stay_two() -> None:
    """Gemini signs each of several calls at index 0 under the call's id; with one id, or none, two data are two too."""
    for ids in (("tool_a", "tool_b"), ("tool_a", "tool_a"), (None, None)):
        pieces = [{"type": "reasoning.encrypted", "data": f"d{n}", "id": i, "index": 0} for n, i in enumerate(ids)]
        assert details_of(*pieces) == pieces


def test_a_late_id_and_format_join_their_item() -> None:
    """Later fields are added to an item; its keys stay in order of arrival."""
    merged = details_of(
        {"type": "reasoning.text", "text": "a", "index": 0},
        {"type": "reasoning.text", "id": "x", "text": "b", "index": 0},
    )
    assert json.dumps(merged) == json.dumps([{"type": "reasoning.text", "text": "ab", "index": 0, "id": "x"}])


def test_details_without_an_index_merge_by_type() -> None:
    """Gemini 2.5 sends details_of without an index."""
    assert details_of({"type": "reasoning.text", "text": "a"}, {"type": "reasoning.text", "text": "b"}) == [
        {"type": "reasoning.text", "text": "ab"}
    ]


def test_unknown_details_and_fields_are_kept() -> None:
    """Unknown types and fields are sent back unchanged."""
    strange = {"type": "reasoning.future", "payload": {"a": [1, None, 1.0]}, "index": 7, "z": None}
    assert json.dumps(details_of(strange)) == json.dumps([strange])


def test_details_are_emitted_once() -> None:
    """Details are one part, at [DONE] or at the end of the bytes, never both."""
    piece = chunk({"reasoning_details": [{"type": "reasoning.text", "text": "a"}]})
    for stream in ([piece, b"data: [DONE]\n\n"], [piece], [piece, b"data: [DONE]\n\n", b"data: [DONE]\n\n"]):
        assert sum(isinstance(part, Details) for part in decode(*stream)) == 1
