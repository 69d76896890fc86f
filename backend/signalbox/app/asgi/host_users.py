"""Users of the app in which Signalbox is mounted: a function of this app says who owns a request."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from inspect import isawaitable
from typing import TypeAlias

import structlog
from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.types import Scope

from signalbox.app.access import USER_PREFIX, Caller
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError

OwnerOf: TypeAlias = Callable[[Request], "str | Awaitable[str | None] | None"]
"""Returns the id of the user who sends a request, None for a request without a login."""

# The host's app in a request's scope; `scope["app"]` is Signalbox.
HOST_APP = "signalbox.host_app"
_LONGEST_ID = 200
_NOT_LOGGED_IN = "No user is logged in to the app that contains this chat. Log in there, or use an API token."
_EXPECTED = f"None, or text of 1 to {_LONGEST_ID} printable characters"

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class HostUsers:
    """Identifies callers by the login of the host."""

    owner_of: OwnerOf

    async def caller_of(self, scope: Scope) -> Caller:
        """Return the caller of a request; raises RequestError, and what the host's function raises."""
        request = Request({**scope, "app": scope.get(HOST_APP)})
        try:
            found = self.owner_of(request)
            owner = await found if isawaitable(found) else found
        except HTTPException as error:  # functions that FastAPI's routes depend on raise it
            if error.status_code not in (401, 403):
                raise
            owner = None
        if owner is None:
            raise RequestError(Code.UNAUTHORIZED, _NOT_LOGGED_IN)
        return Caller(f"{USER_PREFIX}{_checked(owner)}", name=owner)


def _checked(owner: object) -> str:
    """Return a valid id; any other value is an internal error, whose log line says what is expected."""
    if isinstance(owner, str) and 0 < len(owner) <= _LONGEST_ID and owner.isprintable():
        return owner
    got = f"text of {len(owner)} characters" if isinstance(owner, str) else type(owner).__name__
    _log.error("owner.invalid", expected=_EXPECTED, got=got)
    raise RequestError(Code.INTERNAL)
