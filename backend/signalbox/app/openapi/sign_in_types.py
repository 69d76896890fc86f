"""The response types of sign-in."""

from typing import Literal, TypedDict


class SessionState(TypedDict):
    """Who sends the request: `name` and `role`, and by which `method` the server knows it.

    `csrf_token` belongs to the session of the cookie: requests that change something send it in `x-csrf-token`.
    `sign_in` is how people sign in on this server: `oidc` at /auth/login, or `proxy`, or not at all.
    """

    signed_in: bool
    name: str
    role: Literal["user", "operator"] | None
    method: Literal["oidc", "proxy", "token", "host"] | None
    csrf_token: str | None
    sign_in: Literal["oidc", "proxy"] | None
