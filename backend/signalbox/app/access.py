"""The caller of a request: identified by its token, and what it may see."""

import asyncio
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic, time
from typing import Annotated

from fastapi import Depends, Request

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, StoreError
from signalbox.core.records import RunRecord
from signalbox.core.security.api_tokens import Token, looks_like_token, parse_token
from signalbox.runs.manager import RunManager
from signalbox.store.database import Database
from signalbox.store.tokens import find_token

# A revoked token is accepted for at most this long, in every worker.
_FRESH_SECONDS = 1.0
# A database that does not answer must not block a request for ever.
_SILENT_SECONDS = 5.0
_MOST_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Caller:
    """The client of a request. `owner` is the API token's id; empty without one, and for the operator."""

    owner: str = ""
    is_operator: bool = False

    def may_see(self, owner: str) -> bool:
        """Return whether a run of this owner may be read and stopped: own runs, and for the operator all."""
        return self.is_operator or self.owns(owner)

    def owns(self, owner: str) -> bool:
        """Return whether this is an own run: only those may be saved."""
        return owner == self.owner


ANONYMOUS = Caller()
OPERATOR = Caller(is_operator=True)


def caller_of(request: Request) -> Caller:
    """Return the caller of a request."""
    # AccessControl sets it; without that (tests of single routes) all requests have one owner.
    return request.scope.get("state", {}).get("caller", ANONYMOUS)


async def _caller(request: Request) -> Caller:
    return caller_of(request)


CallerDep = Annotated[Caller, Depends(_caller)]


# --- authentication ---------------------------------------------------------------------------------------------


class TokenCache:
    """The API tokens as the database had them a moment ago, so that not every request reads it.

    `clock` returns epoch seconds, `ticks` is monotonic.
    """

    def __init__(
        self, database: Database, *, clock: Callable[[], float] = time, ticks: Callable[[], float] = monotonic
    ) -> None:
        self.clock, self.ticks = clock, ticks
        self._database = database
        self._read: dict[str, tuple[float, Token]] = {}

    async def owner_of(self, token_id: str, secret: str) -> str:
        """Return the owner that a token stands for; raises RequestError UNAUTHORIZED, StoreError."""
        token = await self._find(token_id)
        if token is None or not token.matches(secret):
            raise _refused("This token is not valid.")
        # A request with the right secret may know that its token expired or was revoked.
        if token.revoked is not None:
            raise _refused("This token has been revoked.")
        if token.is_expired(self.clock()):
            raise _refused("This token has expired.")
        return token.id

    async def _find(self, token_id: str) -> Token | None:
        now = self.ticks()
        at, known = self._read.get(token_id, (now, None))
        if known is not None and now - at < _FRESH_SECONDS:
            return known
        try:
            async with asyncio.timeout(_SILENT_SECONDS):
                found = await self._database.read(find_token, token_id)
        except TimeoutError:
            raise StoreError(Code.STORE_UNAVAILABLE) from None
        self._remember(token_id, now, found)
        return found

    def _remember(self, token_id: str, at: float, token: Token | None) -> None:
        """Remember only tokens that exist: invented ones must not fill memory."""
        if token is None or len(self._read) >= _MOST_REMEMBERED:
            self._read.pop(token_id, None)
        else:
            self._read[token_id] = at, token


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Identifies the owner of a request by its token. `is_asked`: requests without a token are rejected.

    `book` is called for each request, because there is no token book before the database is open.
    """

    is_asked: bool
    access: str | None
    admin: str
    book: Callable[[], TokenCache]

    async def caller_of(self, given: str) -> Caller:
        """Return the caller with this token, empty for none; raises RequestError UNAUTHORIZED, StoreError.

        A string that looks like an API token, if only by its prefix, is checked even where no token is required: a run
        that was meant for its owner must not become public. Any other string is ignored there.
        """
        if _is_same(given, self.admin):
            return OPERATOR
        if self.access is not None and _is_same(given, self.access):
            return ANONYMOUS
        if (found := parse_token(given)) is not None:
            return Caller(await self.book().owner_of(*found))
        if looks_like_token(given):
            raise _refused("This token is not valid.")
        if self.is_asked:
            raise RequestError(Code.UNAUTHORIZED, field="Authorization")
        return ANONYMOUS


def _is_same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _refused(words: str) -> RequestError:
    return RequestError(Code.UNAUTHORIZED, words, "Authorization")


# --- authorization --------------------------------------------------------------------------------------------------


async def run_of(run_id: str, runs: RunManager, caller: Caller) -> RunRecord:
    """Return a run that may be seen; raises RequestError UNKNOWN_RUN for any other, whether it exists or not."""
    record = await runs.find(run_id)
    if not caller.may_see(record.owner):
        raise RequestError(Code.UNKNOWN_RUN)
    return record


async def own_run_of(run_id: str, runs: RunManager, caller: Caller) -> RunRecord:
    """Return a run of one's own; raises RequestError UNKNOWN_RUN for any other, whether it exists or not."""
    record = await runs.find(run_id)
    if not caller.owns(record.owner):
        raise RequestError(Code.UNKNOWN_RUN)
    return record
