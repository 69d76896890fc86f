"""Sessions of people who have signed in: ids, lifetimes and CSRF tokens.

The browser has the id in a cookie. The database has only its hash.
"""

import hmac
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256

from signalbox.core.security.people import Person

_ID_BYTES = 32
# A session ends after this many times its idle limit, however often it is used.
LIFETIME_FACTOR = 14


@dataclass(frozen=True, slots=True)
class Session:
    """A stored session; times are epoch seconds. `used` is the last use that was stored."""

    digest: bytes
    person: Person
    created: float
    used: float

    def is_over(self, now: float, idle: float) -> bool:
        """Return whether the session has ended: unused for `idle` seconds, or older than its lifetime."""
        return self.used + idle <= now or self.created + lifetime_of(idle) <= now


def lifetime_of(idle: float) -> float:
    """Return the longest time from sign-in to the end of a session, in seconds."""
    return idle * LIFETIME_FACTOR


def new_session(person: Person, now: float) -> tuple[Session, str]:
    """Create a session; return it and its id, which is not stored."""
    session_id = secrets.token_urlsafe(_ID_BYTES)
    return Session(digest_of(session_id), person, now, now), session_id


def digest_of(session_id: str) -> bytes:
    """Return the hash under which a session is stored. The id has 256 random bits, so a fast hash is enough."""
    return sha256(session_id.encode("utf-8", "surrogateescape")).digest()


def csrf_token_of(session_id: str) -> str:
    """Return the CSRF token of a session. It needs no storage, and does not reveal the id."""
    mac = hmac.digest(session_id.encode("utf-8", "surrogateescape"), b"csrf", "sha256")
    return urlsafe_b64encode(mac).rstrip(b"=").decode()


def is_csrf_token(given: str, session_id: str) -> bool:
    """Return whether a text is the CSRF token of a session, in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), csrf_token_of(session_id).encode())
