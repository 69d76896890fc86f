"""/api/tokens and /api/groups: API tokens and the groups whose limits they share; for the operator."""

from dataclasses import replace
from time import time

import structlog
from fastapi import APIRouter, Request

from signalbox.app.access import OperatorDep
from signalbox.app.audit.details import group_put, token_changed, token_created, token_rotated
from signalbox.app.audit.entries import entry_of
from signalbox.app.deps import ServicesDep
from signalbox.app.openapi.document import BODY_ERRORS, api_errors, json_body, json_response
from signalbox.app.openapi.response_types import Deleted
from signalbox.app.openapi.token_bodies import CreateToken, PutGroup, RotateToken, UpdateToken
from signalbox.app.openapi.token_types import (
    ApiToken,
    ApiTokenList,
    ApiTokenSecret,
    PolicyLimits,
    TokenGroup,
    TokenGroupList,
)
from signalbox.app.request.body import read_model
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.operation.audit import Entry
from signalbox.core.security.api_tokens import Token, new_token
from signalbox.core.security.policies import Group, Policy
from signalbox.intakes.v1_schema import Name
from signalbox.store import groups, tokens
from signalbox.store.audit import audited, audited_change

router = APIRouter(prefix="/api", route_class=KnownParameters)
_log = structlog.get_logger()
_BODY_LIMIT = 200_000


# --- tokens ---------------------------------------------------------------------------------------------------------


@router.get(
    "/tokens", response_model=None, tags=["tokens"], responses={200: json_response(ApiTokenList), **api_errors()}
)
async def list_tokens(services: ServicesDep, _: OperatorDep) -> ApiTokenList:
    """List all API tokens with their limits; needs the operator token."""
    return {"tokens": [_token(one) for one in await services.database.read(tokens.list_tokens)]}


@router.post(
    "/tokens",
    response_model=None,
    tags=["tokens"],
    status_code=201,
    responses={201: json_response(ApiTokenSecret), **api_errors(*BODY_ERRORS)},
    openapi_extra=json_body(CreateToken),
)
async def create_token(request: Request, services: ServicesDep, operator: OperatorDep) -> ApiTokenSecret:
    """Create an API token; needs the operator token. Only this response contains its text."""
    wanted = await read_model(request, CreateToken, _BODY_LIMIT)
    now = time()
    if wanted.expires is not None and wanted.expires <= now:
        raise RequestError(
            Code.INVALID_REQUEST, "expires is in the past. Send a later time in epoch seconds.", "expires"
        )
    token, text = new_token(wanted.name, now)
    token = replace(token, expires=wanted.expires, group=wanted.group, policy=wanted.policy)

    entry = token_created(operator, token)
    try:
        await services.database.write(audited, lambda _: entry, tokens.add_token, token)
    except groups.UnknownGroup:
        raise _no_group(wanted.group) from None
    _log.info("token.created", token_id=token.id, group=token.group)
    return {**_token(token), "token": text}


@router.get(
    "/tokens/{token_id}",
    response_model=None,
    tags=["tokens"],
    responses={200: json_response(ApiToken), **api_errors(Code.UNKNOWN_TOKEN)},
)
async def get_token(token_id: str, services: ServicesDep, _: OperatorDep) -> ApiToken:
    """Return an API token; needs the operator token."""
    return _token(_found(await services.database.read(tokens.find_token, token_id)))


@router.patch(
    "/tokens/{token_id}",
    response_model=None,
    tags=["tokens"],
    responses={200: json_response(ApiToken), **api_errors(*BODY_ERRORS, Code.UNKNOWN_TOKEN, Code.TOKEN_REVOKED)},
    openapi_extra=json_body(UpdateToken),
)
async def update_token(token_id: str, request: Request, services: ServicesDep, operator: OperatorDep) -> ApiToken:
    """Change the name, the group, the limits or the expiry of a token; needs the operator token.

    An expired token is valid again with a later expiry. All workers apply the change within a second.
    """
    wanted = await read_model(request, UpdateToken, _BODY_LIMIT)
    given = wanted.model_fields_set

    def changed(token: Token) -> Token:
        _check_not_revoked(token)
        own = {name: getattr(wanted, name) for name in ("name", "group", "expires") if name in given}
        return replace(token, **own, policy=wanted.changed(token.policy))

    try:
        change = audited_change, token_changed(operator), tokens.change_token, token_id, changed
        token = _found(await services.database.write(*change))
    except groups.UnknownGroup:
        raise _no_group(wanted.group) from None
    _log.info("token.changed", token_id=token_id, fields=sorted(given))
    return _token(token)


@router.delete(
    "/tokens/{token_id}",
    response_model=None,
    tags=["tokens"],
    responses={200: json_response(ApiToken), **api_errors(Code.UNKNOWN_TOKEN)},
)
async def revoke_token(token_id: str, services: ServicesDep, operator: OperatorDep) -> ApiToken:
    """Revoke a token, which all workers reject within a second; needs the operator token.

    What was created with it stays. A revocation cannot be undone.
    """
    now = time()

    def entry(token: Token | None) -> Entry | None:
        if token is None or token.revoked != now:  # unknown, or revoked before
            return None
        return entry_of(operator, "token.revoked", {"token": token.id, "name": token.name})

    token = _found(await services.database.write(audited, entry, tokens.revoke_token, token_id, now))
    _log.info("token.revoked", token_id=token_id)
    return _token(token)


@router.post(
    "/tokens/{token_id}/rotate",
    response_model=None,
    tags=["tokens"],
    responses={200: json_response(ApiTokenSecret), **api_errors(*BODY_ERRORS, Code.UNKNOWN_TOKEN, Code.TOKEN_REVOKED)},
    openapi_extra=json_body(RotateToken),
)
async def rotate_token(token_id: str, request: Request, services: ServicesDep, operator: OperatorDep) -> ApiTokenSecret:
    """Give a token a new secret; needs the operator token. Its id, and with it everything it owns, stays.

    All workers reject the former secret within a second after `grace_seconds`.
    """
    wanted = await read_model(request, RotateToken, _BODY_LIMIT)
    texts: list[str] = []

    def rotated(token: Token) -> Token:
        _check_not_revoked(token)
        token, text = token.rotated(time(), wanted.grace_seconds)
        texts.append(text)
        return token

    entry = token_rotated(operator, wanted.grace_seconds)
    token = _found(await services.database.write(audited_change, entry, tokens.change_token, token_id, rotated))
    _log.info("token.rotated", token_id=token_id, grace_seconds=wanted.grace_seconds)
    return {**_token(token), "token": texts[-1]}


def _found(token: Token | None) -> Token:
    if token is None:
        raise RequestError(Code.UNKNOWN_TOKEN)
    return token


def _check_not_revoked(token: Token) -> None:
    if token.revoked is not None:
        raise RequestError(Code.TOKEN_REVOKED)


def _no_group(name: str | None) -> RequestError:
    words = f"There is no group {name!r}. Create it with PUT /api/groups/{name}."
    return RequestError(Code.INVALID_REQUEST, words, "group")


# --- groups ---------------------------------------------------------------------------------------------------------


@router.get(
    "/groups", response_model=None, tags=["tokens"], responses={200: json_response(TokenGroupList), **api_errors()}
)
async def list_groups(services: ServicesDep, _: OperatorDep) -> TokenGroupList:
    """List all groups with their limits; needs the operator token."""
    return {"groups": [_group(one) for one in await services.database.read(groups.list_groups)]}


@router.get(
    "/groups/{name}",
    response_model=None,
    tags=["tokens"],
    responses={200: json_response(TokenGroup), **api_errors(Code.UNKNOWN_GROUP)},
)
async def get_group(name: str, services: ServicesDep, _: OperatorDep) -> TokenGroup:
    """Return a group; needs the operator token."""
    found = await services.database.read(groups.find_group, name)
    if found is None:
        raise RequestError(Code.UNKNOWN_GROUP)
    return _group(found)


@router.put(
    "/groups/{name}",
    response_model=None,
    tags=["tokens"],
    responses={200: json_response(TokenGroup), **api_errors(*BODY_ERRORS)},
    openapi_extra=json_body(PutGroup),
)
async def put_group(name: Name, request: Request, services: ServicesDep, operator: OperatorDep) -> TokenGroup:
    """Create a group, or replace its limits; needs the operator token.

    The group `users` applies to people who sign in, unless their sign-in names another group.
    """
    wanted = await read_model(request, PutGroup, _BODY_LIMIT)
    wanted_group = Group(name, time(), wanted.policy, wanted.expires)
    _, group = await services.database.write(
        audited, lambda change: group_put(operator, *change), groups.put_group, wanted_group
    )
    _log.info("group.set", group=name)
    return _group(group)


@router.delete(
    "/groups/{name}",
    response_model=None,
    tags=["tokens"],
    responses={200: json_response(Deleted), **api_errors(Code.UNKNOWN_GROUP)},
)
async def delete_group(name: str, services: ServicesDep, operator: OperatorDep) -> Deleted:
    """Delete a group without valid tokens; needs the operator token."""
    entry = entry_of(operator, "group.deleted", {"group": name})
    try:
        count = await services.database.write(
            audited, lambda members: None if members else entry, groups.delete_group, name
        )
    except groups.UnknownGroup:
        raise RequestError(Code.UNKNOWN_GROUP) from None
    if count:
        belong = "1 token belongs" if count == 1 else f"{count} tokens belong"
        words = f"{belong} to this group and would lose its limits. Move or revoke them first."
        raise RequestError(Code.INVALID_REQUEST, words, "name")
    _log.info("group.deleted", group=name)
    return {"deleted": True}


# --- as JSON --------------------------------------------------------------------------------------------------------


def _token(token: Token) -> ApiToken:
    return {
        "id": token.id,
        "name": token.name,
        "group": token.group,
        "created": token.created,
        "expires": token.expires,
        "revoked": token.revoked,
        "former_until": token.former_until,
        "last_used_at": token.last_used,
        **_limits(token.policy),
    }


def _group(group: Group) -> TokenGroup:
    return {"name": group.name, "created": group.created, "expires": group.expires, **_limits(group.policy)}


def _limits(policy: Policy) -> PolicyLimits:
    return {
        "budget_day": policy.budget_day,
        "budget_month": policy.budget_month,
        "rate_limit": policy.rate_limit,
        "max_runs": policy.max_runs,
        "models": None if policy.models is None else [*policy.models],
        "tools": None if policy.tools is None else [*policy.tools],
    }
