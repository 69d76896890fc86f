"""Starts, finds and ends sessions, and identifies the caller of a request by its session cookie."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from time import monotonic, time

from starlette.types import Scope

from signalbox.app.access import Caller
from signalbox.app.asgi.raw_headers import headers_of
from signalbox.app.sign_in.cookies import SESSION
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, StoreError
from signalbox.core.operation.audit import Entry
from signalbox.core.security.people import Person
from signalbox.core.security.sessions import Session, digest_of, is_csrf_token, lifetime_of, new_session
from signalbox.store.audit import audited
from signalbox.store.database import Database
from signalbox.store.sessions import (
    add_session,
    delete_ended,
    end_session,
    find_session,
    list_sessions,
    mark_used,
)

CSRF_HEADER = "x-csrf-token"
_NOT_SIGNED_IN = (
    "You are not signed in, or your session has ended. Open /auth/login in a browser, or send an API token."
)
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
# A session that has ended is accepted for at most this long, in every worker.
_MAX_AGE_SECONDS = 1.0
_MOST_CACHED = 10_000
_TIMEOUT_SECONDS = 5.0
# The last use is stored only so often: not every request writes to the database.
_USES_PER_IDLE_LIMIT = 20


class Sessions:
    """The sessions of one server. `idle` is how long a session lasts without requests, in seconds.

    `database` is called for each use, because the database is opened later. `clock` returns epoch seconds, `ticks`
    monotonic seconds.
    """

    def __init__(
        self,
        database: Callable[[], Database],
        idle: float,
        *,
        clock: Callable[[], float] = time,
        ticks: Callable[[], float] = monotonic,
    ) -> None:
        self.idle = idle
        self.clock, self.ticks = clock, ticks
        self._database = database
        self._cached: dict[bytes, tuple[float, Session]] = {}

    @property
    def lifetime(self) -> float:
        """The longest time from sign-in to the end of a session, in seconds."""
        return lifetime_of(self.idle)

    async def start(self, person: Person, replaced: str | None) -> str:
        """Start a session and return its id; end the one that it replaces, and delete ended ones. Raises StoreError."""
        now = self.clock()
        session, session_id = new_session(person, now)
        old = digest_of(replaced) if replaced else None
        database = self._database()
        await database.write(add_session, session, old)
        await database.write(delete_ended, now - self.idle, now - self.lifetime)
        if old is not None:
            self._cached.pop(old, None)
        return session_id

    async def find(self, session_id: str) -> Session | None:
        """Return a session that has not ended, and count this as its use; raises StoreError."""
        session = await self._read(digest_of(session_id))
        now = self.clock()
        if session is None or session.is_over(now, self.idle):
            return None
        if now - session.used > self.idle / _USES_PER_IDLE_LIMIT:
            session = replace(session, used=now)
            self._cache(session.digest, session)
            with suppress(StoreError):  # logged; the session remains valid until its idle limit
                await self._database().write(mark_used, session.digest, now)
        return session

    async def end(self, session_id: str) -> None:
        """End a session, if it exists; raises StoreError."""
        digest = digest_of(session_id)
        await self._database().write(end_session, digest)
        self._cached.pop(digest, None)

    async def end_listed(self, session: Session, entry: Entry | None) -> bool:
        """End a session for a person or an operator, with an audit entry; return whether it existed.

        Raises StoreError.
        """
        ended = await self._database().write(
            audited, lambda is_ended: entry if is_ended else None, end_session, session.digest
        )
        self._cached.pop(session.digest, None)
        return ended

    async def listed(
        self, limit: int, before: tuple[float, bytes] | None = None, owner: str | None = None
    ) -> list[Session]:
        """Return sessions that have not ended, newest first; raises StoreError."""
        now = self.clock()
        active = now - self.idle, now - self.lifetime
        return await self._database().read(list_sessions, active, limit, before, owner)

    async def with_digest(self, digest: bytes) -> Session | None:
        """Return a session that has not ended, without counting this as its use; raises StoreError."""
        session = await self._database().read(find_session, digest)
        return None if session is None or session.is_over(self.clock(), self.idle) else session

    async def caller_of(self, scope: Scope) -> Caller:
        """Return the caller of a request by its cookie; raises RequestError and StoreError."""
        session_id = SESSION.value_in(scope)
        session = await self.find(session_id) if session_id else None
        if session is None or session_id is None:
            raise RequestError(Code.UNAUTHORIZED, _NOT_SIGNED_IN)
        if scope["method"] not in _READING:
            check_csrf(scope, session_id)
        person = session.person
        return Caller(person.owner, person.is_operator, person.name, claimed=person.groups)

    async def _read(self, digest: bytes) -> Session | None:
        now = self.ticks()
        at, known = self._cached.get(digest, (now, None))
        if known is not None and now - at < _MAX_AGE_SECONDS:
            return known
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                found = await self._database().read(find_session, digest)
        except TimeoutError:
            raise StoreError(Code.STORE_UNAVAILABLE) from None
        self._cache(digest, found)
        return found

    def _cache(self, digest: bytes, session: Session | None) -> None:
        """Cache only sessions that exist: unknown ids must not fill memory."""
        self._cached.pop(digest, None)
        if session is None:
            return
        while len(self._cached) >= _MOST_CACHED:
            del self._cached[next(iter(self._cached))]
        self._cached[digest] = self.ticks(), session


def check_csrf(scope: Scope, session_id: str) -> None:
    """Check that a page of this server sent a request that changes something; raises RequestError.

    Access control rejects an Origin of another site. Browsers always send Origin with such a request.
    """
    headers = headers_of(scope)
    if b"origin" not in headers:
        words = "With a session, a request that changes something needs the header Origin."
        raise RequestError(Code.ORIGIN_NOT_ALLOWED, words, "Origin")
    if not is_csrf_token(headers.get(CSRF_HEADER.encode(), b"").decode("latin-1"), session_id):
        raise RequestError(Code.CSRF, field=CSRF_HEADER)
