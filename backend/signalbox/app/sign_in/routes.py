"""/auth and /api/session: sign-in with a session, sign-out, and who is signed in."""

from time import time

import structlog
from fastapi import APIRouter, Request, Response
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import Scope

from signalbox.app.access import Authenticator, Caller
from signalbox.app.asgi.root_path import public_root
from signalbox.app.asgi.security import token_in
from signalbox.app.openapi.document import api_errors, errors, json_response
from signalbox.app.openapi.sign_in_types import SessionState
from signalbox.app.request.query_parameters import reject_unknown
from signalbox.app.sign_in.attempts import SECONDS, StartedSignIn, safe_next, seal, unseal
from signalbox.app.sign_in.cookies import ATTEMPT, CSRF, SESSION
from signalbox.app.sign_in.error_page import failed
from signalbox.app.sign_in.sessions import check_csrf
from signalbox.app.sign_in.setup import Provider, SignIn
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, StoreError
from signalbox.core.security.people import Person, any_fits, email_of, groups_of, name_of, owner_of
from signalbox.core.security.sessions import csrf_token_of
from signalbox.services.oidc.attempt import Attempt

router = APIRouter(tags=["sign-in"])
LOGIN, CALLBACK, LOGOUT, SESSION_PATH = "/auth/login", "/auth/callback", "/auth/logout", "/api/session"
# They check the cookie themselves: they work without a session, too.
PUBLIC = (LOGIN, CALLBACK, LOGOUT, SESSION_PATH)
_NO_STORE = {"cache-control": "no-store"}
_SEE_OTHER = 303
_NOT_SET_UP = "Sign-in is not set up on this server. Its operator can set SIGNALBOX_OIDC_ISSUER."
_NOT_ALLOWED = "This account may not use this server. Sign in with another account, or ask the operator."
_PAGE = {"text/html": {"schema": {"type": "string"}}}
_REDIRECT = {"description": "A redirect.", "headers": {"location": {"schema": {"type": "string"}}}}

_log = structlog.get_logger()


@router.get(
    LOGIN,
    response_model=None,
    responses={303: _REDIRECT, **errors(Code.NOT_FOUND, Code.HOST_NOT_ALLOWED, Code.SIGN_IN_UNAVAILABLE)},
)
async def start_sign_in(request: Request, next: str = "") -> Response:  # noqa: A002 - the name that links use
    """Send the browser to the sign-in service, which sends it back to /auth/callback.

    `next` is the path to show afterwards; it must be on this server.
    """
    provider = _provider_of(request)
    scope = request.scope
    started = StartedSignIn(Attempt(), safe_next(next, public_root(scope)), time())
    try:
        url = await provider.flow.sign_in_url(started.attempt, _redirect_uri(request))
    except RequestError as error:
        return _uncached(failed(error, scope))
    response = RedirectResponse(url, _SEE_OTHER)
    ATTEMPT.write(response, scope, seal(started, provider.secret), SECONDS)
    return _uncached(response)


@router.get(
    CALLBACK,
    response_model=None,
    responses={
        303: _REDIRECT,
        **errors(Code.SIGN_IN_FAILED, Code.NOT_FOUND, Code.HOST_NOT_ALLOWED, Code.SIGN_IN_UNAVAILABLE),
    },
)
async def finish_sign_in(request: Request) -> Response:
    """Check the answer of the sign-in service, start a session, and show the page."""
    provider = _provider_of(request)
    scope = request.scope
    started = unseal(ATTEMPT.value_in(scope) or "", provider.secret, time())
    try:
        if started is None and await _session_id(provider, scope) is not None:  # the browser's Back button leads here
            return _uncached(RedirectResponse(f"{public_root(scope)}/", _SEE_OTHER))
        response = await _finished(request, provider, started)
    except RequestError as error:
        response = failed(error, scope)
    except StoreError as error:
        response = failed(RequestError(error.code), scope)
    ATTEMPT.delete(response, scope)
    return _uncached(response)


async def _finished(request: Request, provider: Provider, started: StartedSignIn | None) -> Response:
    """Start a session for the person who comes back; raises RequestError and StoreError."""
    scope = request.scope
    if started is None:
        words = "This sign-in has expired, or was started in another browser."
        raise RequestError(Code.SIGN_IN_FAILED, words, "state")
    claims = await provider.flow.claims(request.query_params, started.attempt, _redirect_uri(request))
    person = _person(claims, provider)
    await _check_group(person, request.app.state.authenticator)
    session_id = await provider.sessions.start(person, SESSION.value_in(scope))
    _log.info("sign_in.finished", owner=person.owner, is_operator=person.is_operator)
    response = RedirectResponse(started.next, _SEE_OTHER)
    SESSION.write(response, scope, session_id, provider.sessions.lifetime)
    CSRF.write(response, scope, csrf_token_of(session_id), provider.sessions.lifetime)
    return response


@router.post(LOGOUT, response_model=None, status_code=204, responses=api_errors(Code.CSRF, Code.NOT_FOUND))
async def sign_out(request: Request) -> Response:
    """End the session of the cookie, on all workers. The person stays signed in at the sign-in service."""
    provider = _provider_of(request)
    session_id = await _session_id(provider, request.scope)
    if session_id is not None:
        check_csrf(request.scope, session_id)
        await provider.sessions.end(session_id)
    response = Response(status_code=204)
    SESSION.delete(response, request.scope)
    CSRF.delete(response, request.scope)
    return _uncached(response)


@router.get(SESSION_PATH, response_model=None, responses={200: json_response(SessionState), **api_errors()})
async def get_session(request: Request, response: Response) -> SessionState:
    """Return who sends the request, how it is known, and how people sign in. It needs no token."""
    reject_unknown(request.scope)
    response.headers.update(_NO_STORE)
    authenticator: Authenticator = request.app.state.authenticator
    sign_in: SignIn = request.app.state.sign_in
    given = token_in(Headers(scope=request.scope), authenticator.counts)
    caller = await _caller(authenticator, given, request.scope)
    session_id = None
    if caller is not None and not given and sign_in.provider is not None:
        session_id = SESSION.value_in(request.scope)
    method = "token" if given else "host" if authenticator.host_user and sign_in.method is None else sign_in.method
    is_known = caller is not None and method is not None
    return {
        "signed_in": is_known,
        "name": caller.name if caller is not None and is_known else "",
        "role": None if caller is None else "operator" if caller.is_operator else "user",
        "method": method if is_known else None,
        "csrf_token": csrf_token_of(session_id) if session_id else None,
        "sign_in": sign_in.method,
    }


async def _caller(authenticator: Authenticator, given: str, scope: Scope) -> Caller | None:
    """Return the caller, None without a token and a login; raises RequestError for a token that is not valid."""
    try:
        return await authenticator.caller_of(given, scope)
    except RequestError as error:
        if given or error.code is not Code.UNAUTHORIZED:
            raise
        return None


def _provider_of(request: Request) -> Provider:
    sign_in: SignIn = request.app.state.sign_in
    if sign_in.provider is None:
        raise RequestError(Code.NOT_FOUND, _NOT_SET_UP)
    return sign_in.provider


async def _session_id(provider: Provider, scope: Scope) -> str | None:
    """Return the id of a request's session, None if there is none or it has ended."""
    session_id = SESSION.value_in(scope)
    return session_id if session_id and await provider.sessions.find(session_id) is not None else None


def _redirect_uri(request: Request) -> str:
    """Return where the provider sends the browser back. Access control has checked the Host header."""
    host = request.headers.get("host", "")
    return f"{request.scope['scheme']}://{host}{public_root(request.scope)}{CALLBACK}"


def _person(claims: dict[str, object], provider: Provider) -> Person:
    """Return the person of valid claims; raises RequestError if no rule allows the person."""
    is_operator = any_fits(provider.operators, claims)
    if provider.users and not is_operator and not any_fits(provider.users, claims):
        raise RequestError(Code.SIGN_IN_FAILED, _NOT_ALLOWED, status=403)
    owner = owner_of(str(claims["iss"]), str(claims["sub"]))
    return Person(owner, name_of(claims), is_operator, groups_of(claims, provider.groups_claim), email_of(claims))


async def _check_group(person: Person, authenticator: Authenticator) -> None:
    """Raise RequestError if the person's group has expired: a session would be of no use."""
    caller = Caller(person.owner, person.is_operator, person.name, claimed=tuple(person.groups))
    try:
        await authenticator.cache().with_group(caller)
    except RequestError as error:
        words = f"{error.message} Ask the operator of this server."
        raise RequestError(Code.SIGN_IN_FAILED, words, status=403) from None


def _uncached(response: Response) -> Response:
    response.headers.update(_NO_STORE)
    return response
