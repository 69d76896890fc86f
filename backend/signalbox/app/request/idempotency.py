"""The Idempotency-Key of a question: valid keys, their owner, and the digest of the body."""

import json
from hashlib import blake2b

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import JsonObject

_LONGEST = 255
# orjson cannot write a seed beyond 64 bits.
_writer = json.JSONEncoder(sort_keys=True)


def checked_key(key: str) -> str:
    """Return the key; raises RequestError if it is empty, too long or not printable."""
    if not 0 < len(key) <= _LONGEST or not key.isascii() or not key.isprintable():
        words = f"Idempotency-Key must be 1 to {_LONGEST} printable ASCII characters."
        raise RequestError(Code.INVALID_REQUEST, words, "Idempotency-Key")
    return key


def owned(key: str, owner: str) -> str:
    """Return the key as stored: prefixed by its owner, since two owners may choose the same one."""
    return f"{owner}\n{key}" if owner else key


def digest_of(question: JsonObject) -> str:
    """Return a digest of a question, independent of whitespace and the order of keys."""
    digest = blake2b(digest_size=16)
    for piece in _writer.iterencode(question):  # encoding megabytes in one call would hold the interpreter lock
        digest.update(piece.encode())
    return digest.hexdigest()
