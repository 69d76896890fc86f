"""The headers of a request by their names, at one go: Starlette walks all of them for each that is asked for."""

from starlette.types import Scope


def headers_of(scope: Scope) -> dict[bytes, bytes]:
    """Return a request's headers under their names in lower case; of one that came more than once the first."""
    return dict(reversed(scope["headers"]))
