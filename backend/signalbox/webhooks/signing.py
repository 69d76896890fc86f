"""Signs webhooks in the form of the Standard Webhooks specification (standardwebhooks.com)."""

import base64
import hmac
import secrets
from collections.abc import Iterable

PREFIX = "whsec_"
_SECRET_BYTES = 32


def new_secret() -> str:
    """Return a new secret: `whsec_` and 32 random bytes in Base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def signed_headers(message_id: str, at: float, body: bytes, keys: Iterable[str]) -> dict[str, str]:
    """Return the headers of a request at a time (epoch seconds), with one signature for each secret."""
    timestamp = str(int(at))
    content = b".".join((message_id.encode(), timestamp.encode(), body))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{_signature(key, content)}" for key in keys),
    }


def _signature(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.digest(key, content, "sha256")).decode()
