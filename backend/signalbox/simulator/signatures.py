"""Signatures of reasoning: HMACs with a fixed key, so that they can be verified without state."""

import base64
import hashlib
import hmac
from typing import Any

import orjson

_KEY = b"signalbox-simulator: not a secret, it only has to be the same on the way back"


def sign(*material: Any, size: int = 96) -> str:
    """Return the signature of the material in base64; `size` in bytes."""
    first = hmac.digest(_KEY, orjson.dumps(material), hashlib.sha256)
    data, block = first, first
    while len(data) < size:
        block = hmac.digest(_KEY, block, hashlib.sha256)
        data += block
    return base64.b64encode(data[:size]).decode()


def signed_id(*material: Any) -> str:
    """Return an id of the material in the format of a UUID."""
    digest = hmac.digest(_KEY, orjson.dumps(material), hashlib.sha256).hex()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"
