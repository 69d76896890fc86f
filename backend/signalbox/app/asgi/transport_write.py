"""Writes a chunk of a stream to uvicorn's transport, without its `send`.

For a chunk, `send` is a coroutine, a message and 90 bytecode instructions, a tenth of a paced event, and ends in this
write. The module depends on private parts of uvicorn 0.54.0; `tests/unit/app/asgi/test_transport_write.py` checks
them. With other servers, streams use `send`.
"""

from starlette.types import Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from signalbox.core.ports import TryEmit


def no_direct_write(piece: bytes) -> bool:
    """Write nothing: the server has no direct write."""
    return False


def direct_write(send: Send) -> TryEmit[bytes] | None:
    """Return the direct write of the connection of this `send`, None if there is none or before the headers."""
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
