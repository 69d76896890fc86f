"""Writing a piece of a stream where uvicorn itself would write it, without its `send`.

For a piece of a body `send` is a coroutine, a message and 90 steps of CPython: a tenth of a paced event. What it does
then is this one write. It leans on parts of uvicorn 0.54.0 that are not for others;
`tests/unit/app/asgi/test_transport_write.py` checks that they still fit. Other servers get messages through `send`.
"""

from starlette.types import Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from signalbox.core.ports import TryEmit


def nothing_written(piece: bytes) -> bool:
    """Stand where there is no short way."""
    return False


def write_by(send: Send) -> TryEmit[bytes] | None:
    """Return the short way beside this `send`, None where there is none; only once the head is sent."""
    cycle = getattr(send, "__self__", None)
    if type(cycle) is not RequestResponseCycle or not cycle.chunked_encoding or cycle.scope["method"] == "HEAD":
        return None
    flow, put = cycle.flow, cycle.transport.write

    def write(piece: bytes) -> bool:
        if flow.write_paused or cycle.disconnected or cycle.response_complete:
            return False
        if piece:  # an empty chunk would end the body
            put(b"%x\r\n%b\r\n" % (len(piece), piece))
        return True

    return write
