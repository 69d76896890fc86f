"""Frames that differ in their piece alone give the parts that they give one by one, whatever stands in the pieces."""

import random

import pytest
from signalbox.wire.alike import pieces_of, template_of

from tests.wire.test_bulk import FINISH, MANY, ODD, ROLE, SPEAKER, WHO, arguments, decoded, text, whole

TEXTS = [
    "",
    "a",
    "\\",
    '"',
    "\n",
    "\u2028",
    "é",
    "\U0001f600",
    '"}}]}',
    "data: {",
    "[DONE]",
    "\\u0041",
    "3c1f9a7e0b52d846",
]
# A piece in the JSON of its frame, which need not be one.
BODIES = [
    *(
        b'a","b',
        b'a","m","b',
        b"a\\",
        b'\\"',
        b"\\\\",
        b'\\\\"',
        b'",7,"',
        b'","m',
        b'm","',
        b'"',
        b"\\u00",
        b"\\ud800",
    ),
    *(
        b"\n",
        b"\r",
        b"\t",
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b"\x7f",
        b'"}}]}\n\ndata: {"id": "gen-1", ',
        b'"],["',
        b"]",
    ),
    *(b'","content": "', b'", "role": "x', b'"}, "finish_reason": "stop', b'"}, "error": {"code": 1', b"/*", b"\\/"),
]
# These differ in their piece alone.
ALIKE = {"nothing odd", "a mark in its text", "an escape", "returns alone"}
KINDS = {"text": text, "arguments": arguments}


def put(body: bytes, kind: str = "text") -> bytes:
    """Write a frame around the JSON of a piece."""
    return KINDS[kind]("PIECE").replace(b"PIECE", body)


def one_by_one(said: bytes) -> list[str]:
    """Decode an answer in reads that are too short for a short way of many frames."""
    return [repr(part) for part in decoded(*(said[at : at + 100] for at in range(0, len(said), 100)))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(60))
def test_pieces_are_read_as_their_frames_are_one_by_one(kind: str, seed: int) -> None:
    """Bodies that try to end their text, to swallow what follows or to pass for two change no other piece."""
    choose = random.Random(seed)
    bodies = [b"word %d " % number for number in range(60)]
    for _ in range(choose.choice((1, 2, 2, 4))):
        bodies[choose.randrange(60)] = choose.choice(BODIES)
    said = whole([ROLE, *(put(body, kind) for body in bodies), FINISH, b"data: [DONE]"])
    assert [repr(part) for part in decoded(said)] == one_by_one(said)


@pytest.mark.parametrize("kind", KINDS)
def test_all_texts_come_through(kind: str) -> None:
    """Escapes, quotes, line ends and empty pieces stay as they are."""
    frames = [KINDS[kind](said) for said in TEXTS * 6]
    pieces, index, others = pieces_of(whole(frames), SPEAKER)
    assert (pieces, index, others) == (TEXTS * 6, None if kind == "text" else 0, b"")
    said = whole([ROLE, *frames, FINISH])
    assert [repr(part) for part in decoded(said)] == one_by_one(said)


@pytest.mark.parametrize("name", sorted(ODD.keys() - ALIKE))
def test_pieces_end_at_the_first_frame_that_is_not_alike(name: str) -> None:
    """What differs in more than its piece is left, and so is all behind it."""
    alike, odd = [text(f"word {number} ") for number in range(20)], ODD[name]
    pieces, _, others = pieces_of(whole([*alike, odd, *alike]), SPEAKER)
    assert whole(alike[: len(pieces)]) + others == whole([*alike, odd, *alike])
    assert len(pieces) in (0, 19, 20)


@pytest.mark.parametrize(
    "frame",
    [
        text("a", object="3c1f9a7e0b52d846"),
        text("a", model="m/two"),
        text("a", choices=[{"index": 1, "delta": {"content": "a"}}]),
        text("a", choices=[{"index": 0, "delta": {"content": "a", "reasoning": "b"}}]),
        text("a", logprobs={"content": "a"}, choices=[{"delta": {"content": None}}]),
        text("a", choices=[{"delta": {"content": "a", "tool_calls": [{"index": 0, "function": {"arguments": "a"}}]}}]),
        text("a", usage={"prompt_tokens": 1}),
        text("a") + b"\r",
        b"event: message\n" + text("a"),
        b'data: {"a \\"content": "b"}',
        b"data: {}",
        b"data: [DONE]",
    ],
)
def test_a_frame_of_another_kind_has_no_template(frame: bytes) -> None:
    """Only a piece of text, or one of a call's arguments, by the same speaker, in one line."""
    assert template_of(frame + b"\n\n", SPEAKER) is None


def test_the_piece_is_the_one_that_counts() -> None:
    """Of two places that look alike the template finds the one that is read; of a name given twice that is the last."""
    elsewhere = text("a", logprobs={"content": "b"})
    found = template_of(elsewhere + b"\n\n", SPEAKER)
    assert found is not None
    assert found.before.endswith(b'"delta": {"content": "')
    twice = text("a").replace(b'"content": "a"', b'"content": "a", "content": "b"')
    found = template_of(twice + b"\n\n", SPEAKER)
    assert found is not None
    assert found.before.endswith(b'"a", "content": "')


def test_few_are_not_worth_it() -> None:
    """A handful of alike frames goes another way."""
    assert pieces_of(whole([*MANY[:5], arguments("{"), *MANY]), SPEAKER)[0] == []
    assert pieces_of(whole(MANY), (WHO["id"], None, None))[0] == []
