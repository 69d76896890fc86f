"""Thought signatures: opaque bytes that verify without state which model signed which part.

A signature holds a digest of the signed content and the digest's HMAC for the model. A function call must come back
with its own signature. A text's signature must come back unchanged, but the text may have been joined with others.
"""

import hashlib
from base64 import b64decode, b64encode
from typing import Any

import orjson

from ...signatures import sign

# Google's documentation offers these values for calls that another model made.
PLACEHOLDERS = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
_TAG = b"\x12"
_DIGEST = 17


def sign_part(model: str, content: Any) -> str:
    """Return the signature of a part's content by a model."""
    return b64encode(_signature(model, _digest(content))).decode()


def is_signature_of(model: str, written: str) -> bool:
    """Return whether a model made this signature, for any content."""
    data = decoded(written)
    return data is not None and data == _signature(model, data[1 : 1 + _DIGEST])


def signs(model: str, written: str, content: Any) -> bool:
    """Return whether a model made this signature for this content."""
    return decoded(written) == _signature(model, _digest(content))


def decoded(written: str) -> bytes | None:
    """Return the bytes of base64 in either alphabet, None if it is not base64."""
    text = written.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        return None


def _signature(model: str, digest: bytes) -> bytes:
    return _TAG + digest + b64decode(sign("gemini", model, digest.hex(), size=48))


def _digest(content: Any) -> bytes:
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).digest()[:_DIGEST]
