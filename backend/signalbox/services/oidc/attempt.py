"""The random values of one sign-in."""

import secrets
from dataclasses import dataclass, field

_SECRET_BYTES = 32


def _secret() -> str:
    return secrets.token_urlsafe(_SECRET_BYTES)


@dataclass(frozen=True, slots=True)
class Attempt:
    """The random values of one sign-in, which the browser keeps until it comes back from the provider.

    `state` ties the answer to the browser, `nonce` the ID token to the request, `verifier` (PKCE) the code to both.
    """

    state: str = field(default_factory=_secret)
    nonce: str = field(default_factory=_secret)
    verifier: str = field(default_factory=_secret)
