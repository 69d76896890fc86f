"""Authentication by token, and which runs a caller may see."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic, time
from typing import Annotated, TypeAlias, TypeVar

from fastapi import Depends, Request
from starlette.types import Scope

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, StoreError
from signalbox.core.records import RunRecord
from signalbox.core.security.api_tokens import Token, looks_like_token, parse_token
from signalbox.core.security.people import USER_PREFIX
from signalbox.core.security.policies import NO_POLICY, PEOPLE, Group, Policy
from signalbox.runs.manager import RunManager
from signalbox.store.database import Bound, Database
from signalbox.store.groups import find_group
from signalbox.store.tokens import find_token, mark_used

# A revoked token is accepted for at most this long, in every worker.
_MAX_AGE_SECONDS = 1.0
# A database that does not answer must not block a request for ever.
_TIMEOUT_SECONDS = 5.0
_MOST_CACHED = 10_000
# Not every request writes the time of the last use of its token.
_USE_SECONDS = 60.0

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Caller:
    """The client of a request. `owner` is the API token's id, empty for the operator and without an API token.

    `name` is that of the token. Users of a host have an owner that begins with `user:`, and their id as name. `group`
    is the name of a group, which need not exist; `policy` is the token's own, `group_policy` that of the group.
    `claimed` are the groups of a person at the identity provider.
    """

    owner: str = ""
    is_operator: bool = False
    name: str = ""
    group: str = ""
    policy: Policy = NO_POLICY
    group_policy: Policy = NO_POLICY
    claimed: tuple[str, ...] = ()

    @property
    def model_patterns(self) -> tuple[tuple[str, ...], ...]:
        """The patterns of the caller and of its group; a model must match one of each. Empty if all are allowed."""
        return tuple(one.models for one in (self.policy, self.group_policy) if one.models is not None)

    def may_use_model(self, model: str) -> bool:
        """Return whether the caller and its group allow a model."""
        return self.policy.allows_model(model) and self.group_policy.allows_model(model)

    def may_use_tool(self, name: str) -> bool:
        """Return whether the caller and its group allow one of our tools."""
        return self.policy.allows_tool(name) and self.group_policy.allows_tool(name)

    def may_see(self, owner: str) -> bool:
        """Return whether the caller may read and stop runs of this owner: its own, and for the operator all."""
        return self.is_operator or self.owns(owner)

    def owns(self, owner: str) -> bool:
        """Return whether the caller is this owner. Only own runs may be saved."""
        return owner == self.owner


ANONYMOUS = Caller()
OPERATOR = Caller(is_operator=True)
HostUser: TypeAlias = Callable[[Scope], Awaitable[Caller]]
"""Returns the caller of a request by the login of the host; raises RequestError UNAUTHORIZED."""
# The key of the caller in a request's scope.
CALLER = "signalbox.caller"


def caller_of(request: Request) -> Caller:
    """Return the caller of a request."""
    # AccessControl sets it; without that (tests of single routes) all requests have one owner.
    return request.scope.get(CALLER, ANONYMOUS)


async def _caller(request: Request) -> Caller:
    return caller_of(request)


CallerDep = Annotated[Caller, Depends(_caller)]


async def _operator(request: Request) -> Caller:
    caller = caller_of(request)
    if not caller.is_operator:
        words = "This requires the operator token (SIGNALBOX_ADMIN_TOKEN)."
        raise RequestError(Code.UNAUTHORIZED, words, "Authorization")
    return caller


OperatorDep = Annotated[Caller, Depends(_operator)]
"""The caller, who is the operator; any other gets UNAUTHORIZED."""


# --- authentication ---------------------------------------------------------------------------------------------


class TokenCache:
    """Caches API tokens and groups for a second, so that not every request reads the database.

    `clock` returns epoch seconds, `ticks` monotonic seconds.
    """

    def __init__(
        self, database: Database, *, clock: Callable[[], float] = time, ticks: Callable[[], float] = monotonic
    ) -> None:
        self.clock, self.ticks = clock, ticks
        self._database = database
        self._tokens: dict[str, tuple[float, Token]] = {}
        self._groups: dict[str, tuple[float, Group | None]] = {}
        self._uses: dict[str, float] = {}
        self._storing: set[asyncio.Task[None]] = set()

    async def caller_with(self, token_id: str, secret: str) -> Caller:
        """Return the caller with a token; raises RequestError UNAUTHORIZED and StoreError."""
        token = await self._token(token_id)
        now = self.clock()
        if token is None or not token.matches(secret, now):
            raise _unauthorized("This token is not valid.")
        # Only a request with the right secret learns that its token is revoked or expired.
        if token.revoked is not None:
            raise _unauthorized("This token has been revoked.")
        if token.is_expired(now):
            raise _unauthorized("This token has expired.")
        self._note_use(token, now)
        return await self.with_group(Caller(token.id, name=token.name, group=token.group or "", policy=token.policy))

    async def aclose(self) -> None:
        """Wait until the last uses are stored."""
        await asyncio.gather(*self._storing)

    def _note_use(self, token: Token, now: float) -> None:
        """Store the use of a token at most once a minute, without delaying the request."""
        last = max(token.last_used or 0.0, self._uses.get(token.id, 0.0))
        if now - last < _USE_SECONDS:
            return
        if len(self._uses) >= _MOST_CACHED:
            self._uses.clear()
        self._uses[token.id] = now
        task = asyncio.create_task(self._store_use(token.id, now), name="use of a token")
        self._storing.add(task)
        task.add_done_callback(self._storing.discard)

    async def _store_use(self, token_id: str, now: float) -> None:
        with suppress(StoreError):  # logged; the next use after a minute is stored
            await self._database.write(mark_used, token_id, now, _USE_SECONDS)

    async def with_group(self, caller: Caller) -> Caller:
        """Return a caller with the policy of its group.

        For people who sign in, it is the first group of the identity provider that exists here, otherwise `users`.
        Raises RequestError UNAUTHORIZED if the group has expired, and StoreError.
        """
        is_person = caller.owner.startswith(USER_PREFIX) and not caller.group
        group = await self._first_group([*caller.claimed, PEOPLE] if is_person else [caller.group])
        if group is None:
            return caller
        if group.is_expired(self.clock()):
            raise _unauthorized(f"The access of the group {group.name!r} has expired.")
        return replace(caller, group=group.name, group_policy=group.policy)

    async def _first_group(self, names: Sequence[str]) -> Group | None:
        for name in names:
            if name and (group := await self._group(name)) is not None:
                return group
        return None

    async def _token(self, token_id: str) -> Token | None:
        now = self.ticks()
        at, known = self._tokens.get(token_id, (now, None))
        if known is not None and now - at < _MAX_AGE_SECONDS:
            return known
        found = await self._read(find_token, token_id)
        # Only tokens that exist: unknown ids must not fill memory.
        if found is None or len(self._tokens) >= _MOST_CACHED:
            self._tokens.pop(token_id, None)
        else:
            self._tokens[token_id] = now, found
        return found

    async def _group(self, name: str) -> Group | None:
        now = self.ticks()
        at, known = self._groups.get(name, (-_MAX_AGE_SECONDS, None))
        if name in self._groups and now - at < _MAX_AGE_SECONDS:
            return known
        found = await self._read(find_group, name)
        if len(self._groups) >= _MOST_CACHED:
            self._groups.clear()
        self._groups[name] = now, found
        return found

    async def _read(self, find: Bound[[str], Value], key: str) -> Value:
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                return await self._database.read(find, key)
        except TimeoutError:
            raise StoreError(Code.STORE_UNAVAILABLE) from None


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Identifies the caller of a request by its token. `is_required`: requests without a token are rejected.

    `cache` is called for each request, because there is no token cache before the database is open. `host_user`
    identifies the callers without a token of Signalbox, `session_user` those without any token.
    """

    is_required: bool
    access_token: str | None
    admin_token: str
    cache: Callable[[], TokenCache]
    host_user: HostUser | None = None
    session_user: HostUser | None = None

    def counts(self, given: str) -> bool:
        """Return whether to check a token. With users of a host, only Signalbox's: others may be the host's."""
        if self.host_user is None or looks_like_token(given) or _is_same(given, self.admin_token):
            return True
        return self.access_token is not None and _is_same(given, self.access_token)

    async def caller_of(self, given: str, scope: Scope) -> Caller:
        """Return the caller with this token, which may be empty; raises RequestError UNAUTHORIZED and StoreError.

        A string with the prefix of an API token is checked even if no token is required, because its run is meant to
        be private. Other strings are then ignored.
        """
        if _is_same(given, self.admin_token):
            return OPERATOR
        if self.access_token is not None and _is_same(given, self.access_token):
            return ANONYMOUS
        if (found := parse_token(given)) is not None:
            return await self.cache().caller_with(*found)
        if looks_like_token(given):
            raise _unauthorized("This token is not valid.")
        if self.host_user is not None:
            return await self.cache().with_group(await self.host_user(scope))
        if self.session_user is not None:
            if given:
                raise _unauthorized("This token is not valid.")
            return await self.cache().with_group(await self.session_user(scope))
        if self.is_required:
            raise RequestError(Code.UNAUTHORIZED, field="Authorization")
        return ANONYMOUS


def _is_same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _unauthorized(message: str) -> RequestError:
    return RequestError(Code.UNAUTHORIZED, message, "Authorization")


# --- authorization --------------------------------------------------------------------------------------------------


async def run_of(run_id: str, runs: RunManager, caller: Caller) -> RunRecord:
    """Return a run that the caller may see; raises RequestError UNKNOWN_RUN for any other, existing or not."""
    record = await runs.find(run_id)
    if not caller.may_see(record.owner):
        raise RequestError(Code.UNKNOWN_RUN)
    return record


async def own_run_of(run_id: str, runs: RunManager, caller: Caller) -> RunRecord:
    """Return a run of the caller; raises RequestError UNKNOWN_RUN for any other, existing or not."""
    record = await runs.find(run_id)
    if not caller.owns(record.owner):
        raise RequestError(Code.UNKNOWN_RUN)
    return record
