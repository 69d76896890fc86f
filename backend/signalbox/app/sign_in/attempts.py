"""A sign-in that is under way: signed data in a cookie, so that any worker can finish what another one has started."""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from dataclasses import dataclass

from msgspec import DecodeError, Struct, ValidationError, json

from signalbox.services.oidc.attempt import Attempt

# Time to sign in at the provider, in seconds.
SECONDS = 600.0
_MAC_BYTES = 32
_LONGEST_NEXT = 1_000


class _Stored(Struct):
    state: str
    nonce: str
    verifier: str
    next: str
    started: float


@dataclass(frozen=True, slots=True)
class StartedSignIn:
    """An attempt, and the path to show after it."""

    attempt: Attempt
    next: str
    started: float


def seal(started: StartedSignIn, secret: bytes) -> str:
    """Return the value of the cookie."""
    attempt = started.attempt
    stored = _Stored(attempt.state, attempt.nonce, attempt.verifier, started.next, started.started)
    text = json.encode(stored)
    return urlsafe_b64encode(hmac.digest(secret, text, "sha256") + text).rstrip(b"=").decode()


def unseal(value: str, secret: bytes, now: float) -> StartedSignIn | None:
    """Return the attempt in a cookie; None if it is not from this server, or too old."""
    try:
        data = urlsafe_b64decode(f"{value}{'=' * (-len(value) % 4)}".encode("ascii"))
    except (Error, ValueError):
        return None
    mac, text = data[:_MAC_BYTES], data[_MAC_BYTES:]
    if not hmac.compare_digest(mac, hmac.digest(secret, text, "sha256")):
        return None
    try:
        stored = json.decode(text, type=_Stored)
    except (DecodeError, ValidationError):
        return None
    if not 0 <= now - stored.started < SECONDS:
        return None
    return StartedSignIn(Attempt(stored.state, stored.nonce, stored.verifier), stored.next, stored.started)


def safe_next(given: str, root: str) -> str:
    r"""Return the path to show after the sign-in: a path of this server below `root`, else the chat page.

    Browsers read `//host` and `/\host` as addresses of another server, and drop tabs and line breaks.
    """
    start = f"{root}/"
    is_plain = given.isascii() and given.isprintable() and " " not in given and "\\" not in given
    if not is_plain or len(given) > _LONGEST_NEXT or not given.startswith(start):
        return start
    after_root = given.removeprefix(root)
    is_own = not after_root.startswith("//") and not after_root.startswith("/auth/") and "/../" not in f"{after_root}/"
    return given if is_own else start
