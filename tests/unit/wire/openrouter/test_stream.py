"""A read of many frames gives the same parts as its frames one by one, by the fast path where possible."""

import json
import random

import pytest
from signalbox.core.parts import StreamPart, TextDelta
from signalbox.wire.openrouter.stream import MANY_BYTES, ChatStreamDecoder

WHO = {"id": "gen-1", "provider": "P", "model": "m/one"}


def text(said: str, **other: object) -> bytes:
    """Write a frame with a piece of text."""
    return b"data: " + json.dumps({**WHO, "choices": [{"index": 0, "delta": {"content": said}}], **other}).encode()


def arguments(piece: str, index: int = 0) -> bytes:
    """Write a frame with a piece of a call's arguments."""
    call = {"index": index, "function": {"arguments": piece}}
    return b"data: " + json.dumps({**WHO, "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).encode()


ROLE = (
    b"data: " + json.dumps({**WHO, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}).encode()
)
FINISH = text("", choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}])
USAGE = text("", choices=[], usage={"prompt_tokens": 1, "completion_tokens": 2})
SPEAKER = (WHO["id"], WHO["model"], WHO["provider"])
MANY = [text(f"word {number} ") for number in range(60)]
ODD = {
    "nothing odd": b"",
    "a comment": b": OPENROUTER PROCESSING",
    "a comment as data": b"data: : keep-alive",
    "an event's name": b"event: message\n" + text("named"),
    "an error's name": b'event: error\ndata: {"message": "no"}',
    "an id": b"id: 7\n" + text("numbered"),
    "a return": text("returned") + b"\r",
    "returns alone": text("returned").replace(b"\n", b"\r"),
    "two lines of data": b'data: {"id": "gen-1", "choices":\ndata: []}',
    "an empty line more": b"\n" + text("late"),
    "a retry": b"retry: 3",
    "no blank behind the colon": text("close").replace(b"data: ", b"data:"),
    "a speaker that is no text": text("unknown", id=[1]),
    "another speaker": text("other", model="m/two"),
    "arguments": arguments('{"a": 1'),
    "reasoning": text("", choices=[{"index": 0, "delta": {"reasoning": "hm"}}]),
    "a second choice": text("", choices=[{"index": 1, "delta": {"content": "no"}}]),
    "a finish in the middle": FINISH,
    "an error": text("", error={"code": 502, "message": "broken"}),
    "no JSON": b"data: {no",
    "two objects in one frame": text("one") + b"," + text("two").removeprefix(b"data: "),
    "one object in two frames": b'data: {"id": "gen-1"\n\ndata: "choices": [{"delta": {"content": "x"}}]}',
    "lists that close each other": text("one") + b"],[" + text("two").removeprefix(b"data: "),
    "a text cut into two frames, and a frame with what was put between them": (
        text("abc def").replace(b" def", b"\n\ndata:  def")
        + b"\n\n"
        + text("A")
        + b"],["
        + text("B").removeprefix(b"data: ")
    ),
    "a frame within another": (
        text("one")[:-1]
        + b',"x":[0\n\n'
        + text("two")
        + b"]}\n\n"
        + text("A")
        + b","
        + text("B").removeprefix(b"data: ")
    ),
    "an index that is none": arguments("{}").replace(b'"index": 0, "function"', b'"index": %d, "function"' % 2**70),
    "a negative index": arguments("{}").replace(b'"index": 0, "function"', b'"index": -1, "function"'),
    "a named end": b"event: x\ndata: [DONE]",
    "nothing at all": b"data: {}",
    "two frames glued": b'data: {"id": "gen-1", "choi' + text("whole"),
    "the end in the middle": b"data: [DONE]",
    "an escape": text("a\u2028b\u0085c\n\n"),
    "no letters": b'data: {"id": "gen-1", "choices": [{"index": 0, "delta": {"content": "\xff"}}]}',
}

BITS = [
    *(
        b"\n",
        b"\n\n",
        b"\r",
        b"data: {",
        b"\n\ndata: {",
        b"\n\ndata: ",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b"],[",
        b'"',
        b"\\",
    ),
    *(b',"x":[', b',"x":"', b"]}", b'"}', b"null", b"\xff"),
    *(b'"model":"m/two",', b'"error":1,', b'"usage":{"prompt_tokens":1},', b'"choices":null,', b",{}", b"\t", b" "),
]


def decoded(*reads: bytes) -> list[StreamPart]:
    """Decode an answer that came in these reads."""
    decoder = ChatStreamDecoder()
    parts = [part for read in reads for part in decoder.feed(read)]
    return parts + decoder.close()


def whole(frames: list[bytes]) -> bytes:
    """Put frames together."""
    return b"".join(frame + b"\n\n" for frame in frames)


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("place", [0, 1, 2, 30, 59, 60])
def test_many_frames_at_once_give_the_same_parts(name: str, place: int) -> None:
    """Any frame among plain ones, at any place: one large read gives the same parts as many small ones."""
    said = whole([ROLE, *MANY[:place], ODD[name], *MANY[place:], FINISH, USAGE, b"data: [DONE]"])
    one_by_one = [said[at : at + 100] for at in range(0, len(said), 100)]
    assert len(said) > MANY_BYTES
    assert _plain(decoded(said)) == _plain(decoded(*one_by_one))


@pytest.mark.parametrize("cut", range(1, 12_000, 997))
def test_many_frames_may_be_cut_anywhere(cut: int) -> None:
    """A large read may begin or end within a frame."""
    said = whole([ROLE, *MANY, arguments('{"a"'), *MANY, arguments(": 1}"), FINISH, b"data: [DONE]"])
    assert _plain(decoded(said[:cut], said[cut:])) == _plain(decoded(said))


def test_frames_after_the_end_are_ignored() -> None:
    """Frames after [DONE] are ignored."""
    parts = decoded(whole([ROLE, *MANY, FINISH, b"data: [DONE]", *MANY]))
    assert sum(type(part) is TextDelta for part in parts) == len(MANY)


def test_frames_after_the_end_without_a_finish_are_ignored() -> None:
    """They are ignored with text on both sides of [DONE] too, in one read or in many."""
    frames = [ROLE, *MANY, b"data: [DONE]", *MANY]
    for parts in (decoded(whole(frames)), decoded(*(whole([frame]) for frame in frames))):
        assert sum(type(part) is TextDelta for part in parts) == len(MANY)


@pytest.mark.parametrize("seed", range(100))
def test_any_bytes_give_the_same_parts_in_any_reads(seed: int) -> None:
    """Pieces of JSON and of frames in any order."""
    choose = random.Random(seed)
    said = whole([ROLE, *MANY, arguments('{"a"'), *MANY])
    for _ in range(choose.choice((1, 2, 4))):
        bit, at = choose.choice(BITS), choose.choice((choose.randrange(len(said)), *_turns(said, choose)))
        said = said[:at] + bit + said[at + choose.choice((0, 0, 1, len(bit))) :]
    one_by_one = [said[at : at + 100] for at in range(0, len(said), 100)]
    assert _plain(decoded(said)) == _plain(decoded(*one_by_one))


def _turns(said: bytes, choose: random.Random) -> list[int]:
    """Return some of the places where a frame begins, ends or opens something."""
    places = [at for at in range(len(said)) if said[at : at + 1] in (b"\n", b"{", b"}", b"[", b"]")]
    return choose.sample(places, 3)


def _plain(parts: list[StreamPart]) -> list[str]:
    return [repr(part) for part in parts]
