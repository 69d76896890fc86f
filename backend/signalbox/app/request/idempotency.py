"""The Idempotency-Key of a question: which keys are taken, and which body came with one."""

import json
from hashlib import blake2b

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import JsonObject

_LONGEST = 255
# Not orjson: a seed may be beyond 64 bits.
_writer = json.JSONEncoder(sort_keys=True)


def checked_key(key: str) -> str:
    """Return the key; raises RequestError for one that is empty, very long or not printable."""
    if not 0 < len(key) <= _LONGEST or not key.isascii() or not key.isprintable():
        words = f"Idempotency-Key must be 1 to {_LONGEST} printable ASCII characters."
        raise RequestError(Code.INVALID_REQUEST, words, "Idempotency-Key")
    return key


def owned(key: str, owner: str) -> str:
    """Return the key as it is kept: two owners may choose the same one, and none of theirs has a line break."""
    return f"{owner}\n{key}" if owner else key


def digest_of(question: JsonObject) -> str:
    """Return the hash of what a question says, however it is spaced and whatever comes first in it."""
    digest = blake2b(digest_size=16)
    for piece in _writer.iterencode(question):  # in one go megabytes would hold the interpreter lock
        digest.update(piece.encode())
    return digest.hexdigest()
