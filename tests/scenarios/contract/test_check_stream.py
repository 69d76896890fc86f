"""`check-stream` names the first fault of an invalid stream, and accepts compatible additions."""

from collections.abc import Callable

import pytest
from signalbox.encoders.check import first_stream_fault

from tests.scenarios.contract.golden import FIXTURES

GOOD = (FIXTURES / "search-and-calculate.sse").read_bytes()
BAD_END = (FIXTURES / "rate-limit.sse").read_bytes()
RUN = b"0123456789abcdef0123456789abcdef"

Change = Callable[[list[bytes]], list[bytes]]


def broken(change: Change, stream: bytes = GOOD) -> str | None:
    """Change the frames of a stream; return the reported fault."""
    frames = [frame + b"\n\n" for frame in stream.split(b"\n\n")[:-1]]
    return first_stream_fault(b"".join(change(frames)))[0]


def at(kind: str, frames: list[bytes], nth: int = 0) -> int:
    """Return the position of the nth frame of a type."""
    return [n for n, frame in enumerate(frames) if f'"type":"{kind}"'.encode() in frame][nth]


def swap(kind: str, old: bytes, new: bytes, nth: int = 0) -> Change:
    """Make a change that replaces text in the nth frame of a type."""

    def change(frames: list[bytes]) -> list[bytes]:
        n = at(kind, frames, nth)
        assert old in frames[n], (old, frames[n])
        return [*frames[:n], frames[n].replace(old, new, 1), *frames[n + 1 :]]

    return change


def renumbered(frames: list[bytes]) -> list[bytes]:
    """Renumber frames, so that a change breaks nothing but what it is for."""
    return [b"%b\nid: %b:%d\n\n" % (frame.partition(b"\n")[0], RUN, n) for n, frame in enumerate(frames, 1)]


def again(kind: str) -> Change:
    """Make a change that repeats a frame under a new number."""
    return lambda frames: renumbered([*frames[: at(kind, frames) + 1], *frames[at(kind, frames) :]])


def without(kind: str) -> Change:
    """Make a change that removes the first frame of a type."""
    return lambda frames: renumbered([f for n, f in enumerate(frames) if n != at(kind, frames)])


def all_without(kind: str) -> Change:
    """Make a change that removes all frames of a type."""
    return lambda frames: renumbered([f for f in frames if f'"type":"{kind}"'.encode() not in f])


def plus(data: bytes) -> Change:
    """Make a change that inserts a frame after the first."""
    return lambda frames: renumbered([frames[0], b"data: " + data + b"\nid: x\n\n", *frames[1:]])


FAULTS: dict[str, tuple[Change, str]] = {
    "missing id": (lambda f: [f[0].partition(b"\n")[0] + b"\n\n", *f[1:]], "id None"),
    "missing id later": (lambda f: [f[0], f[1].partition(b"\n")[0] + b"\n\n", *f[2:]], "seq 1 follows 1"),
    "id without run": (lambda f: [f[0].replace(RUN + b":", b""), *f[1:]], "is not <run_id>:<seq>"),
    "id without seq": (lambda f: [f[0].replace(b":1\n", b"\n", 1), *f[1:]], "is not <run_id>:<seq>"),
    "seq falls": (lambda f: [f[1].replace(b":2\n", b":9\n", 1), *f], "first frame must carry"),
    "seq repeats": (lambda f: [f[0], f[1].replace(b":2\n", b":1\n", 1), *f[2:]], "seq 1 follows 1"),
    "frames swapped": (lambda f: [*f[:-3], f[-2], f[-3], f[-1]], "it must rise"),
    "other run": (lambda f: [*f[:-1], f[-1].replace(RUN, b"f" * 32)], "names run ffff"),
    "v missing": (lambda f: [f[0].replace(b',"v":"1.1"', b""), *f[1:]], '"v": "1.1"'),
    "v of another contract": (lambda f: [f[0].replace(b'"v":"1.1"', b'"v":"2.0"'), *f[1:]], '"v": "1.1"'),
    "run_id missing": (lambda f: [f[0].replace(b',"run_id":"%b"' % RUN, b""), *f[1:]], "run_id"),
    "run_id of another run": (lambda f: [f[0].replace(b'"run_id":"0', b'"run_id":"1'), *f[1:]], "run_id"),
    "loop missing": (lambda f: [f[0].replace(b',"loop":"v2"', b""), *f[1:]], "loop"),
    "loop unknown": (lambda f: [f[0].replace(b'"loop":"v2"', b'"loop":"v3"'), *f[1:]], "loop"),
    "result twice": (again("tool_result"), "two results"),
    "announced twice": (again("tool_calls"), "announced twice"),
    "executing twice": (again("tool_executing"), "executes twice"),
    "never announced": (without("tool_calls"), "never announced"),
    "never answered": (without("tool_result"), "has no result"),
    "executing after the result": (
        lambda f: renumbered([*f[:-1], f[at("tool_executing", f)], f[-1]]), "after its result",
    ),
    "another name in the result": (swap("tool_result", b'"name":"', b'"name":"x'), "announced as"),
    "an empty announcement": (plus(b'{"type":"tool_calls","calls":[]}'), "announces no call"),
    "done twice": (again("done"), "after done"),
    "frame after done": (lambda f: renumbered([*f, f[0]]), "after done"),
    "no done": (lambda f: f[:-1], "without done"),
    "complete without content": (all_without("content"), "without content or a handed call"),
    "nothing at all": (lambda f: [], "without done"),
    "NaN": (swap("tool_result", b'"success":true', b'"success":true,"x":NaN'), "not strict JSON"),
    "Infinity": (plus(b'{"type":"content","content":"x","n":Infinity}'), "not strict JSON"),
    "cut JSON": (plus(b'{"type":"content","content":"x'), "not strict JSON"),
    "not UTF-8": (plus(b'{"type":"content","content":"\xff"}'), "not strict JSON"),
    "an array": (plus(b"[]"), "not an object"),
    "no type": (plus(b'{"content":"x"}'), "not an object with a type"),
    "a type that is no text": (plus(b'{"type":3}'), "not an object with a type"),
    "named event": (lambda f: [f[0], b"event: message\n" + f[1], *f[2:]], "named event"),
    "cut in mid-frame": (lambda f: [*f[:-1], f[-1][:-1]], "middle of a frame"),
    "cut in mid-line": (lambda f: [*f[:-1], f[-1][:40]], "middle of a frame"),
    "a field missing": (swap("tool_result", b'"category":"search",', b""), "category"),
    "a field of the wrong type": (swap("content", b'"content":"', b'"content":3,"x":"'), "content"),
    "a null where nothing belongs": (swap("reasoning", b'"step":1', b'"step":null'), "step"),
    "an unknown status of done": (swap("done", b'"status":"complete"', b'"status":"fine"'), "status"),
    "done is not true": (swap("done", b'"done":true', b'"done":false'), "done"),
    "an unknown category": (swap("tool_result", b'"category":"search"', b'"category":"fun"'), "category"),
    "a result without success": (swap("tool_result", b'"success":true,', b""), "result"),
    "a failure without a code": (swap("tool_result", b'"success":true', b'"success":false,"error":"x"'), "result"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_named(fault: str) -> None:
    """A stream with one fault is rejected with a message about that fault."""
    change, words = FAULTS[fault]
    named = broken(change)
    assert named is not None
    assert words in named


def test_an_ending_without_its_warning() -> None:
    """Every status except complete and cancelled requires a warning just before `done`."""
    assert broken(lambda f: f, BAD_END) is None
    stripped = broken(
        lambda f: [
            f[-1].replace(b":2\n", b":1\n"),
        ],
        BAD_END,
    )
    assert stripped is not None
    other = swap("warning", b'"code":"RATE_LIMIT"', b'"code":"TOOL_CLAMP"')
    assert "without its warning" in str(broken(other, BAD_END))
    assert "no code" in str(broken(swap("done", b'"code":"RATE_LIMIT",', b""), BAD_END))


def test_a_warning_far_away_does_not_count() -> None:
    """An event between the warning and `done` is a fault."""

    def between(frames: list[bytes]) -> list[bytes]:
        return renumbered([*frames[:-1], b'data: {"type":"content","content":"x"}\nid: x\n\n', frames[-1]])

    assert "without its warning" in str(broken(between, BAD_END))


@pytest.mark.parametrize("code", ["TOOL_CLAMP", "FINAL_EMPTY"])
def test_warnings_that_come_once(code: str) -> None:
    """The warnings about clamping and a missing answer occur at most once per run."""
    frame = b'data: {"type":"warning","message":"m","code":"%b"}\nid: x\n\n' % code.encode()
    assert broken(lambda f: renumbered([f[0], frame, *f[1:]])) is None
    assert "twice" in str(broken(lambda f: renumbered([f[0], frame, frame, *f[1:]])))


@pytest.mark.parametrize(
    "change",
    [
        plus(b'{"type":"progress","percent":3,"anything":null}'),
        swap("content", b'"content":"', b'"future":{"a":[1,null]},"content":"'),
        swap("done", b'"done":true', b'"done":true,"carbon":0.1'),
        swap("tool_calls", b'"id":"', b'"icon":"x","id":"'),
        lambda f: [b": ping\n\n", *[piece for frame in f for piece in (frame, b": ping\n\n")]],
        lambda f: [frame.replace(b"\n", b"\r\n") for frame in f],
        lambda f: [f[0], *[frame.replace(b":%d\n" % n, b":%d\n" % (n * 10), 1) for n, frame in enumerate(f[1:], 2)]],
        lambda f: [b"retry: 100\n" + f[0], *f[1:]],
    ],
    ids=["type", "field", "field of done", "field of a call", "pings", "CRLF", "gaps", "retry"],
)
def test_growth_is_no_fault(change: Change) -> None:
    """Unknown types and fields, pings and gaps in the numbers are accepted, as clients must accept them."""
    assert broken(change) is None


def test_every_cut_is_noticed() -> None:
    """A stream that is cut anywhere before its end is invalid."""
    for length in range(len(GOOD) - 1):
        assert first_stream_fault(GOOD[:length])[0] is not None, length


def test_a_resumed_stream() -> None:
    """The rest of a run from any frame is valid only if it is declared as resumed."""
    frames = [frame + b"\n\n" for frame in GOOD.split(b"\n\n")[:-1]]
    for first in range(1, len(frames)):
        tail = b"".join(frames[first:])
        assert first_stream_fault(tail, resumed=True) == (None, len(frames) - first)
        assert "first frame" in str(first_stream_fault(tail)[0])


def test_faults_name_their_frame() -> None:
    """The message names the frame."""
    assert str(broken(again("tool_result"))).startswith("frame ")
