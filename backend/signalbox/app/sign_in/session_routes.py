"""/api/sessions: list and end sessions; for the operator all, for a person the own ones."""

from collections.abc import Sequence
from typing import Annotated

import structlog
from fastapi import APIRouter, Query, Request

from signalbox.app.access import Caller, CallerDep
from signalbox.app.audit.entries import entry_of
from signalbox.app.openapi.document import api_errors, json_response
from signalbox.app.openapi.response_types import Deleted
from signalbox.app.openapi.sign_in_types import SignInSession, SignInSessionList
from signalbox.app.request.paging import Limit, cursor_at
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.app.sign_in.cookies import SESSION
from signalbox.app.sign_in.sessions import Sessions
from signalbox.app.sign_in.setup import SignIn
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import JsonObject
from signalbox.core.security.people import USER_PREFIX
from signalbox.core.security.sessions import Session, digest_of

router = APIRouter(prefix="/api/sessions", tags=["sign-in"], route_class=KnownParameters)
_log = structlog.get_logger()
# The id is the hash that the database stores: 32 bytes in hexadecimal.
_CURSOR = r"^[0-9]{1,16}(\.[0-9]{1,16})?_[0-9a-f]{64}$"
_ID_LENGTH = 64
_Before = Annotated[str | None, Query(pattern=_CURSOR, description="The `next` of the previous page.")]


@router.get("", response_model=None, responses={200: json_response(SignInSessionList), **api_errors()})
async def list_sessions(
    request: Request, caller: CallerDep, limit: Limit = 50, before: _Before = None
) -> SignInSessionList:
    """List active sessions, newest first. The operator gets the sessions of all people, a person the own ones."""
    sessions = _sessions_of(request, caller)
    found = await sessions.listed(limit + 1, _cursor(before), _owner(caller)) if sessions else []
    shown = found[:limit]
    last = shown[-1] if len(found) > limit else None
    return {
        "sessions": _as_json(shown, request, sessions),
        "next": cursor_at(last.created, last.digest.hex()) if last else None,
        "all_owners": caller.is_operator,
    }


@router.delete(
    "/{session_id}",
    response_model=None,
    responses={200: json_response(Deleted), **api_errors(Code.UNKNOWN_SESSION, Code.CSRF)},
)
async def end_session(session_id: str, request: Request, caller: CallerDep) -> Deleted:
    """End a session: the person must sign in again. All workers reject it within a second.

    The operator can end the sessions of all people, a person the own ones.
    """
    sessions = _sessions_of(request, caller)
    session = await _session(sessions, session_id) if sessions else None
    if sessions is None or session is None or not caller.may_see(session.person.owner):
        raise RequestError(Code.UNKNOWN_SESSION)
    owner = session.person.owner
    details: JsonObject = {"owner": owner, "name": session.person.name}
    entry = None if caller.owns(owner) else entry_of(caller, "session.ended", details)
    if not await sessions.end_listed(session, entry):
        raise RequestError(Code.UNKNOWN_SESSION)
    _log.info("session.ended", owner=owner)
    return {"deleted": True}


def _sessions_of(request: Request, caller: Caller) -> Sessions | None:
    """Return the sessions, None if the server has none or the caller may see none of them."""
    sign_in: SignIn = request.app.state.sign_in
    may_have_some = caller.is_operator or caller.owner.startswith(USER_PREFIX)
    return sign_in.provider.sessions if sign_in.provider is not None and may_have_some else None


def _owner(caller: Caller) -> str | None:
    return None if caller.is_operator else caller.owner


async def _session(sessions: Sessions, session_id: str) -> Session | None:
    try:
        digest = bytes.fromhex(session_id) if len(session_id) == _ID_LENGTH else b""
    except ValueError:
        return None
    return await sessions.with_digest(digest) if digest else None


def _cursor(before: str | None) -> tuple[float, bytes] | None:
    if before is None:
        return None
    at, _, digest = before.partition("_")
    return float(at), bytes.fromhex(digest)


def _as_json(found: Sequence[Session], request: Request, sessions: Sessions | None) -> list[SignInSession]:
    if sessions is None:
        return []
    cookie = SESSION.value_in(request.scope)
    current = digest_of(cookie) if cookie else b""
    return [
        {
            "id": one.digest.hex(),
            "owner": one.person.owner,
            "name": one.person.name,
            "role": "operator" if one.person.is_operator else "user",
            "created": one.created,
            "used": one.used,
            "ends": min(one.used + sessions.idle, one.created + sessions.lifetime),
            "current": one.digest == current,
        }
        for one in found
    ]
