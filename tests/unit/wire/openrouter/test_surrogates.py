r"""A character whose two halves arrive in two frames is joined; a lone half is replaced once."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.parts import CallDelta, Details, ReasoningDelta, StreamPart, TextDelta
from signalbox.wire.openrouter.stream import ChatStreamDecoder

WHO = {"id": "gen-1", "model": "m/one"}
LAMP = "\U0001f6a6"


def frame(delta: object, **more: object) -> bytes:
    """Write a frame as a JavaScript proxy would, with escapes for what is not ASCII."""
    return b"data: " + json.dumps({**WHO, "choices": [{"index": 0, "delta": delta, **more}]}).encode() + b"\n\n"


def arguments(piece: str) -> dict[str, object]:
    """Write a delta of a call."""
    return {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}


def units(text: str) -> list[str]:
    """Cut a text into UTF-16 units, as one would by counting in JavaScript."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return [raw[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(raw), 2)]


def decoded(*frames: bytes) -> list[StreamPart]:
    """Decode frames that come one by one."""
    decoder = ChatStreamDecoder()
    return [part for one in frames for part in decoder.feed(one)] + decoder.close()


def text_of(parts: list[StreamPart]) -> str:
    """Put the pieces of text together."""
    return "".join(part.text for part in parts if isinstance(part, TextDelta))


@given(st.lists(st.sampled_from(["a", "é", LAMP, "\\", '"', "\ud83d", "\udea6", '"content": "', "\n"])), st.data())
def test_a_text_may_be_cut_anywhere(letters: list[str], data: st.DataObject) -> None:
    """A text cut at any UTF-16 unit is decoded whole; a lone half is replaced once."""
    whole = units("".join(letters))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(whole)), max_size=5))) if whole else []
    pieces = ["".join(whole[a:b]) for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    wanted = "".join(whole).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    for parts in (decoded(*map(said, pieces)), decoded(b"".join(map(said, pieces)))):
        assert text_of(parts) == wanted


def said(piece: str) -> bytes:
    """Write a frame with a piece of text."""
    return frame({"content": piece})


def test_arguments_are_whole() -> None:
    """Tool arguments contain the character, not two replacement characters."""
    parts = decoded(frame(arguments('{"q": "x \ud83d')), frame(arguments('\udea6 y"}')))
    assert "".join(p.arguments or "" for p in parts if isinstance(p, CallDelta)) == f'{{"q": "x {LAMP} y"}}'


def test_reasoning_is_whole_in_both_of_its_places() -> None:
    """Reasoning contains the character, also in the details that are sent back."""

    def delta(text: str) -> dict[str, object]:
        detail = {"type": "reasoning.text", "text": text, "index": 0}
        return {"reasoning": text, "reasoning_details": [detail]}

    parts = decoded(frame(delta("so \ud83d")), frame(delta("\udea6 it is")))
    assert "".join(part.text for part in parts if isinstance(part, ReasoningDelta)) == f"so {LAMP} it is"
    [details] = [part for part in parts if isinstance(part, Details)]
    assert [item.raw["text"] for item in details.items] == [f"so {LAMP} it is"]


@pytest.mark.parametrize(
    "behind",
    [
        [said("b")],
        [frame(arguments("\udea6"))],
        [b": OPENROUTER PROCESSING\n\n"],
        [b"data: {no\n\n"],
        [b"data: [DONE]\n\n"],
        [],
    ],
)
def test_a_lone_half_is_replaced_and_nothing_is_lost(behind: list[bytes]) -> None:
    """If the other half never arrives, the text is still emitted, in order."""
    parts = decoded(said("a \ud83d"), *behind)
    assert text_of(parts).startswith("a \ufffd")
    assert text_of(parts).count("\ufffd") == 1


def test_a_comment_between_the_halves_is_ignored() -> None:
    """A comment between the halves changes nothing."""
    parts = decoded(said("a \ud83d"), b": OPENROUTER PROCESSING\n\n", said("\udea6 b"))
    assert text_of(parts) == f"a {LAMP} b"


def test_an_escaped_backslash_is_no_half() -> None:
    """An escaped backslash is not a half: the frame is not held."""
    decoder = ChatStreamDecoder()
    decoder.feed(said("first"))
    one = said("write \\ud83d")
    assert re.search(rb'\\\\ud83d"', one)
    assert [part for part in decoder.feed(one) if isinstance(part, TextDelta)] == [TextDelta("write \\ud83d")]
