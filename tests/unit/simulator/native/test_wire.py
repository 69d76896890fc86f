"""Faults of transport in a native API: what of an answer arrives, and how it ends."""

import pytest
from signalbox.simulator.faults.scripted import Fault
from signalbox.simulator.native.wire import Wire, writes_of
from signalbox.simulator.quirks import Quirk

FRAMES = [b"one ", b"two ", b"three ", b"four ", b"finish ", b"end "]
WIRE = Wire(
    frames=FRAMES,
    whole=b'{"answer": 1}',
    finish=4,
    end=5,
    error=[b"error "],
    error_body=b'{"error": 1}',
    malformed=b"half ",
)


@pytest.mark.parametrize(
    ("fault", "text", "ending"),
    [
        ("midstream-error", b"one two three error ", "clean"),
        ("cut", b"one two three ", "cut"),
        ("cut-tool", b"one two three four ", "cut"),
        ("eof", b"one two three ", "clean"),
        ("stall", b"one two three ", "stall"),
        ("no-done", b"one two three four finish ", "clean"),
        ("done-only", b"end ", "clean"),
        ("drip", b"".join(FRAMES), "clean"),
        ("malformed", b"one two three half four finish end ", "clean"),
        ("searches", b"".join(FRAMES), "clean"),
    ],
)
def test_streams(fault: str, text: bytes, ending: str) -> None:
    """Each fault sends its part of the stream."""
    writes, ended, media_type = writes_of(WIRE, Fault(fault), stream=True)
    assert (b"".join(writes), ended) == (text, ending)
    assert media_type.startswith("text/event-stream")


@pytest.mark.parametrize(
    ("fault", "text", "ending"),
    [
        ("midstream-error", WIRE.error_body, "clean"),
        ("cut", WIRE.whole[:8], "cut"),
        ("cut-tool", WIRE.whole[:8], "cut"),
        ("eof", WIRE.whole[:8], "clean"),
        ("stall", b"", "stall"),
        ("done-only", b"", "clean"),
        ("malformed", b"<html>Bad gateway</html>", "clean"),
        ("searches", WIRE.whole, "clean"),
    ],
)
def test_bodies(fault: str, text: bytes, ending: str) -> None:
    """Each fault sends its part of the body."""
    writes, ended, media_type = writes_of(WIRE, Fault(fault), stream=False)
    assert (b"".join(writes), ended, media_type) == (text, ending, "application/json")


def test_quirks_of_bytes() -> None:
    """A quirk changes the bytes of a stream, and its ending; a whole answer has none."""
    quirk = Quirk(writes=lambda writes: [write.upper() for write in writes], ending="cut")
    writes, ending, _ = writes_of(WIRE, None, quirk, stream=True)
    assert (b"".join(writes), ending) == (b"".join(FRAMES).upper(), "cut")
    assert writes_of(WIRE, None, quirk, stream=False)[:2] == ([WIRE.whole], "clean")
    assert writes_of(WIRE, None, Quirk(), stream=True)[0] == FRAMES


@pytest.mark.parametrize("stream", [True, False])
def test_counted_bytes_and_errors_in_a_200(stream: bool) -> None:
    """`sim-cut-N` counts bytes; `sim-json-error` is JSON also for a stream request."""
    writes, ending, _ = writes_of(WIRE, Fault("cut", 6), stream=stream)
    assert (b"".join(writes), ending) == ((b"one tw" if stream else WIRE.whole[:6]), "cut")
    assert writes_of(WIRE, Fault("json-error"), stream=stream) == ([WIRE.error_body], "clean", "application/json")
