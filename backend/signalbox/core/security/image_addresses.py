"""Addresses of images on this server: the address at the source, signed, so that only our tool results name images."""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256

SECRET_BYTES = 32
PREFIX = "/api/images/"
_MAC_BYTES = 16


class ImageAddresses:
    """Signs and verifies addresses with a secret that all workers share.

    A signature does not expire and does not depend on the run, so a stored answer shows its images after a restart.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def sign(self, source: str) -> str:
        """Return the path of an image on this server."""
        raw = source.encode()
        return f"{PREFIX}{_text(self._mac(raw))}.{_text(raw)}"

    def source_of(self, signed: str) -> str | None:
        """Return the address at the source, None without a valid signature. `signed` is the last part of the path."""
        mac, _, address = signed.partition(".")
        try:
            given, raw = _bytes(mac), _bytes(address)
            return raw.decode() if hmac.compare_digest(given, self._mac(raw)) else None
        except ValueError:
            return None

    def _mac(self, raw: bytes) -> bytes:
        return hmac.digest(self._secret, b"image " + raw, sha256)[:_MAC_BYTES]


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


__all__ = ["PREFIX", "SECRET_BYTES", "ImageAddresses"]
