"""API tokens: how one is made, and how it is known again by the hash of its secret."""

import hmac
import re
import secrets
from dataclasses import dataclass
from hashlib import sha256

_ID_BYTES, _SECRET_BYTES = 6, 32
_FORM = re.compile(r"sb-([0-9a-f]{12})-(.*)", re.ASCII | re.DOTALL)
# Also quoted, in capitals, behind another scheme, or cut. Other services' tokens may hold these letters by chance.
_LIKE = re.compile(r"(?<![A-Za-z0-9_.-])sb-|sb-[0-9a-f]{12}-", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is kept: of its secret the hash alone. Its `id` owns what is made with it.

    Times are epoch seconds.
    """

    id: str
    name: str
    digest: bytes
    created: float
    expires: float | None = None
    revoked: float | None = None

    def is_of(self, secret: str) -> bool:
        """Whether this is its secret; how long the answer takes tells nothing about it."""
        return hmac.compare_digest(self.digest, _digest(secret))

    def is_expired(self, now: float) -> bool:
        """Whether its time is over."""
        return self.expires is not None and self.expires <= now


def new_token(name: str, now: float, seconds: float | None = None) -> tuple[Token, str]:
    """Make a token that holds for so long, for ever without; return it, and the text to hand over once."""
    token_id, secret = secrets.token_hex(_ID_BYTES), secrets.token_urlsafe(_SECRET_BYTES)
    expires = None if seconds is None else now + seconds
    return Token(token_id, name, _digest(secret), now, expires), f"sb-{token_id}-{secret}"


def read_token(text: str) -> tuple[str, str] | None:
    """Return the id and the secret in what looks like a token, None for anything else."""
    found = _FORM.fullmatch(text)
    return (found[1], found[2]) if found else None


def looks_like_token(text: str) -> bool:
    """Whether this may be meant as an API token, however it is written."""
    return _LIKE.search(text) is not None


def _digest(secret: str) -> bytes:
    # 256 random bits cannot be tried through, so a slow hash would only make every request slow.
    return sha256(secret.encode("utf-8", "surrogateescape")).digest()
