"""The headers of a request as a dict: Starlette scans all headers for each lookup."""

from starlette.types import Scope

# The address of the connection in a request's scope. uvicorn replaces `client` by X-Forwarded-For of a trusted proxy.
PEER = "signalbox.peer"


def headers_of(scope: Scope) -> dict[bytes, bytes]:
    """Return a request's headers by lower-case name; the first of repeated ones."""
    return dict(reversed(scope["headers"]))
