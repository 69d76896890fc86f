"""API tokens: creation, parsing, and verification by the hash of the secret."""

import hmac
import re
import secrets
from dataclasses import dataclass, replace
from hashlib import sha256

from signalbox.core.security.policies import NO_POLICY, Policy

_ID_BYTES, _SECRET_BYTES = 6, 32
_FORM = re.compile(r"sb-([0-9a-f]{12})-(.*)", re.ASCII | re.DOTALL)
# Also if quoted, upper-case, truncated or after another scheme. Tokens of other services may contain "sb-" by chance.
_LIKE = re.compile(r"(?<![A-Za-z0-9_.-])sb-|sb-[0-9a-f]{12}-", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Token:
    """A stored token, with only the hash of its secret; times are epoch seconds.

    Its `id` is the owner of everything created with it. After a rotation, the former secret is accepted until
    `former_until`. `last_used` is stored at most once a minute.
    """

    id: str
    name: str
    digest: bytes
    created: float
    expires: float | None = None
    revoked: float | None = None
    group: str | None = None
    policy: Policy = NO_POLICY
    former_digest: bytes | None = None
    former_until: float | None = None
    last_used: float | None = None

    def matches(self, secret: str, now: float) -> bool:
        """Return whether this is the token's secret, or its former one in its grace period; in constant time."""
        given = _digest(secret)
        if hmac.compare_digest(self.digest, given):
            return True
        is_former = self.former_digest is not None and hmac.compare_digest(self.former_digest, given)
        return is_former and self.former_until is not None and now < self.former_until

    def rotated(self, now: float, grace: float) -> "tuple[Token, str]":
        """Return the token with a new secret, and its text; the present secret is accepted for `grace` seconds."""
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        changed = replace(self, digest=_digest(secret), former_digest=self.digest, former_until=now + grace)
        return changed, _text(self.id, secret)

    def is_expired(self, now: float) -> bool:
        """Return whether the token has expired."""
        return self.expires is not None and self.expires <= now


def new_token(name: str, now: float, seconds: float | None = None) -> tuple[Token, str]:
    """Create a token that is valid for `seconds`, or forever; return it and its text, which is not stored."""
    token_id, secret = secrets.token_hex(_ID_BYTES), secrets.token_urlsafe(_SECRET_BYTES)
    expires = None if seconds is None else now + seconds
    return Token(token_id, name, _digest(secret), now, expires), _text(token_id, secret)


def parse_token(text: str) -> tuple[str, str] | None:
    """Return the id and the secret of a token's text, None for anything else."""
    found = _FORM.fullmatch(text)
    return (found[1], found[2]) if found else None


def looks_like_token(text: str) -> bool:
    """Return whether a text looks like an API token, however it is written."""
    return _LIKE.search(text) is not None


def _text(token_id: str, secret: str) -> str:
    return f"sb-{token_id}-{secret}"


def _digest(secret: str) -> bytes:
    # A secret of 256 random bits cannot be guessed, so a slow hash would only slow down requests.
    return sha256(secret.encode("utf-8", "surrogateescape")).digest()
