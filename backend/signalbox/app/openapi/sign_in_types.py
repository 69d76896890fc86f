"""The response types of sign-in."""

from typing import Annotated, Literal, TypedDict

from msgspec import Meta


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


class SignInSession(TypedDict):
    """A session of a person."""

    id: Annotated[str, Meta(description="For `DELETE /api/sessions/ID`; it is not the value of the cookie.")]
    owner: Annotated[str, Meta(description="The owner of the person's conversations and runs.")]
    name: str
    role: Literal["user", "operator"]
    created: Annotated[float, Meta(description="When the person signed in, in epoch seconds.")]
    used: Annotated[float, Meta(description="The last use that is stored, in epoch seconds.")]
    ends: Annotated[float, Meta(description="When it ends without another request, in epoch seconds.")]
    current: Annotated[bool, Meta(description="Whether the request was sent with this session.")]


class SignInSessionList(TypedDict):
    """A page of active sessions, newest first."""

    sessions: list[SignInSession]
    next: Annotated[str | None, Meta(description="The value of `before` for the next page; null on the last page.")]
    all_owners: Annotated[bool, Meta(description="Whether the sessions of all people are listed: for the operator.")]
