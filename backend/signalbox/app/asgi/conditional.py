"""Conditional requests: a client that has the current version of a resource gets a 304 without a body."""

from hashlib import blake2b


def etag_of(body: bytes) -> str:
    """Return a weak ETag: a hash of the body, the same for all content encodings."""
    return f'W/"{blake2b(body, digest_size=16).hexdigest()}"'


def is_current(if_none_match: str, etag: str) -> bool:
    """Return whether If-None-Match names this version, by the weak comparison of RFC 9110."""
    named = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return bool(named & {etag.removeprefix("W/"), "*"})
