"""Frames that differ only in their piece give the same parts as one by one, whatever the pieces contain."""

import random

import pytest
from signalbox.core.parts import CallDelta, TextDelta
from signalbox.wire.openrouter import template_decoder
from signalbox.wire.openrouter.template_decoder import TemplateDecoder, pieces_of, template_of
from signalbox.wire.openrouter.typed_chunk import PlainChunk, read_plain

from tests.unit.wire.openrouter.test_stream import (
    FINISH,
    MANY,
    ODD,
    ROLE,
    SPEAKER,
    WHO,
    arguments,
    decoded,
    text,
    whole,
)

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
    template_decoder._PROBE,
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
ALIKE = {"nothing odd", "an escape", "returns alone"}
KINDS = {"text": text, "arguments": arguments}


def put(body: bytes, kind: str = "text") -> bytes:
    """Write a frame around the JSON of a piece."""
    return KINDS[kind]("PIECE").replace(b"PIECE", body)


def one_by_one(said: bytes) -> list[str]:
    """Decode an answer in reads too short for decoding many frames at once."""
    return [repr(part) for part in decoded(*(said[at : at + 100] for at in range(0, len(said), 100)))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(60))
def test_pieces_are_decoded_like_single_frames(kind: str, seed: int) -> None:
    """A piece that tries to end its string, to swallow the rest or to look like two changes no other piece."""
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
    """A frame that differs in more than its piece is left, with everything after it."""
    alike, odd = [text(f"word {number} ") for number in range(20)], ODD[name]
    pieces, _, others = pieces_of(whole([*alike, odd, *alike]), SPEAKER)
    assert whole(alike[: len(pieces)]) + others == whole([*alike, odd, *alike])
    assert len(pieces) in (0, 19, 20)


@pytest.mark.parametrize(
    "frame",
    [
        text("a", object=template_decoder._PROBE),
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
    """Only one-line frames of the same origin with a piece of text or arguments have a template."""
    assert template_of(frame + b"\n\n", SPEAKER) is None


def test_the_piece_is_the_one_that_counts() -> None:
    """Of two candidates the template uses the one that is decoded; of a duplicate key, the last."""
    elsewhere = text("a", logprobs={"content": "b"})
    found = template_of(elsewhere + b"\n\n", SPEAKER)
    assert found is not None
    assert found.before.endswith(b'"delta": {"content": "')
    twice = text("a").replace(b'"content": "a"', b'"content": "a", "content": "b"')
    found = template_of(twice + b"\n\n", SPEAKER)
    assert found is not None
    assert found.before.endswith(b'"a", "content": "')


def test_the_last_of_two_equal_keys_counts() -> None:
    """Of two equal keys the last counts, also if its value looks like a probe."""
    last = r'"content": "3c1f9a7e0b52d84\u0036"'
    reads = [text(said).replace(b'"}', b'", ' + last.encode() + b"}") + b"\n\n" for said in "abc"]
    parts = decoded(ROLE + b"\n\n", *reads)
    assert [part.text for part in parts if isinstance(part, TextDelta)] == ["3c1f9a7e0b52d846"] * 3


def test_a_frame_full_of_pieces_is_decoded_twice_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few candidates are tested: each costs a decoding of the whole frame, so testing all is quadratic."""
    tried: list[bytes] = []

    def counted(data: bytes) -> PlainChunk:
        tried.append(data)
        return read_plain(data)

    monkeypatch.setattr(template_decoder, "read_plain", counted)
    frame = text("a").replace(b'"content": "a"', b", ".join([b'"content": "a"'] * 300))
    assert template_of(frame + b"\n\n", SPEAKER) is None
    assert len(tried) == 2


def test_few_frames_build_no_template() -> None:
    """A handful of similar frames takes the other path."""
    assert pieces_of(whole([*MANY[:5], arguments("{"), *MANY]), SPEAKER)[0] == []
    assert pieces_of(whole(MANY), (WHO["id"], None, None))[0] == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(60))
def test_single_frames_are_decoded_like_any_other_cut(kind: str, seed: int) -> None:
    """One frame per read, as a slow stream brings them: odd ones, odd bodies and comments change no other piece."""
    choose = random.Random(seed)
    frames = [put(b"word %d " % number, kind) for number in range(40)]
    for _ in range(choose.choice((1, 2, 4, 8))):
        odd = choose.choice([put(choose.choice(BODIES), kind), choose.choice(list(ODD.values())), b": a comment"])
        frames[choose.randrange(40)] = odd
    reads = [frame + b"\n\n" for frame in [ROLE, *frames, FINISH, b"data: [DONE]"]]
    for _ in range(choose.choice((0, 2))):  # some bring half of a frame, or two
        place = choose.randrange(len(reads) - 1)
        cut, both = choose.choice((8, 60, 200, 9999)), reads[place] + reads[place + 1]
        reads[place : place + 2] = [both[:cut], both[cut:]]
    assert [repr(part) for part in decoded(*reads)] == one_by_one(b"".join(reads))


@pytest.mark.parametrize("body", [*BODIES, b"", b"a"])
def test_a_single_piece_is_one_string_or_rejected(body: bytes) -> None:
    """The bytes of a piece are decoded with their quotes: they are the frame's piece, or the frame is left."""
    alone, read = TemplateDecoder(), put(body) + b"\n\n"
    alone.learn(put(b"a word") + b"\n\n", SPEAKER)
    piece = alone.piece_of(read)
    if piece is not None:
        assert [piece] * 20 == pieces_of(read * 20, SPEAKER)[0]
    assert alone.piece_of(put(b"another") + b"\n\n") == "another"


def test_only_one_whole_similar_frame_fits() -> None:
    """Half a frame, two frames, a frame with more after it and any frame after a different one do not fit."""
    alone, frame = TemplateDecoder(), text("a") + b"\n\n"
    assert alone.piece_of(frame) is None
    alone.learn(frame, SPEAKER)
    assert (alone.piece_of(text("b") + b"\n\n"), alone.index) == ("b", None)
    template = template_of(frame, SPEAKER)
    assert template is not None
    assert alone.piece_of(template.before + template.after) == ""
    one_quote_for_both = template.before + template.after[1:]
    for read in (b"", frame[:-1], one_quote_for_both, frame * 2, frame + b"\n", b"\n" + frame):
        assert alone.piece_of(read) is None
    alone.forget()
    assert alone.piece_of(frame) is None
    alone.learn(arguments("{") + b"\n\n", SPEAKER)
    assert (alone.piece_of(arguments("}") + b"\n\n"), alone.index) == ("}", 0)


def test_single_pieces_of_several_calls_stay_separate() -> None:
    """Pieces of arguments belong to the call that their frame names."""
    said = [(number // 4 % 3, f"{number}") for number in range(24)]
    parts = decoded(ROLE + b"\n\n", *(arguments(piece, index) + b"\n\n" for index, piece in said))
    assert [(part.index, part.arguments) for part in parts if isinstance(part, CallDelta)] == said


def test_different_frames_cost_few_templates(monkeypatch: pytest.MonkeyPatch) -> None:
    """If every frame differs, fewer and fewer templates are built; one that fits resets this."""
    made: list[bytes] = []

    def counted(frame: bytes, who: object) -> template_decoder.Template | None:
        made.append(frame)
        return template_of(frame, who)

    monkeypatch.setattr(template_decoder, "template_of", counted)
    alone = TemplateDecoder()
    for number in range(64):
        read = text("a", obfuscation=str(number)) + b"\n\n"
        assert alone.piece_of(read) is None
        alone.forget()
        alone.learn(read, SPEAKER)
    assert len(made) == 7  # the 1st, 2nd, 4th, … 64th
    assert alone.piece_of(made[-1]) == "a"
    alone.learn(text("a") + b"\n\n", SPEAKER)
    assert len(made) == 8


def test_other_reads_do_not_prevent_a_template() -> None:
    """Comments and reads of several frames do not prevent the template."""
    alone = TemplateDecoder()
    for read in (b": a comment\n\n", b"", (text("a") + b"\n\n") * 2) * 9:
        alone.learn(read, SPEAKER)
    alone.learn(text("a") + b"\n\n", SPEAKER)
    assert alone.piece_of(text("b") + b"\n\n") == "b"
