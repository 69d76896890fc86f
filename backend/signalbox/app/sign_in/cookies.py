"""The cookies of sign-in: the session, and the attempt that is under way at the provider."""

from dataclasses import dataclass

from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import Scope

_SESSION = "signalbox-session"
_ATTEMPT = "signalbox-sign-in"
_CSRF = "signalbox-csrf"
# Browsers accept a cookie with this prefix only with Secure, for exactly this host: no other host can set it.
_HOST_PREFIX = "__Host-"


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie by its name; over https, the name has the prefix `__Host-`. Scripts see it if it is `readable`."""

    name: str
    readable: bool = False

    def value_in(self, scope: Scope) -> str | None:
        """Return its value in a request, if any."""
        name = _name(self.name, scope)
        for header, value in scope["headers"]:
            if header == b"cookie" and (found := cookie_parser(value.decode("latin-1")).get(name)):
                return found
        return None

    def write(self, response: Response, scope: Scope, value: str, seconds: float) -> None:
        """Set it in a response, for this host and all paths; requests of other sites do not send it."""
        response.set_cookie(
            _name(self.name, scope),
            value,
            max_age=int(seconds),
            path="/",
            secure=_is_secure(scope),
            httponly=not self.readable,
            samesite="lax",
        )

    def delete(self, response: Response, scope: Scope) -> None:
        """Delete it in a response."""
        self.write(response, scope, "", 0)


SESSION = Cookie(_SESSION)
ATTEMPT = Cookie(_ATTEMPT)
# The chat page sends its value in x-csrf-token. The server compares that header with the session, not with this cookie.
CSRF = Cookie(_CSRF, readable=True)


def _name(name: str, scope: Scope) -> str:
    return f"{_HOST_PREFIX}{name}" if _is_secure(scope) else name


def _is_secure(scope: Scope) -> bool:
    return scope["scheme"] == "https"
