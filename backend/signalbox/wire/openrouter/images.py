"""Images of an answer: finds the URL in the forms that providers use, and accepts only types that browsers display."""

import binascii
import re
from base64 import b64decode

from signalbox.core.messages import JsonValue
from signalbox.core.security.image_types import IMAGE_HEAD, image_type

_DATA = re.compile(r"data:image/(?:png|jpeg|jpg|gif|webp|avif);base64,", re.IGNORECASE)
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
# Characters of base64 that hold the beginning of a file from which its type is read.
_HEAD = IMAGE_HEAD // 3 * 4
_LONGEST_URL = 2_000


def address_in(part: JsonValue) -> str | None:
    """Return the URL of an image: a string, `{"image_url": {"url"}}`, `{"image_url"}`, `{"url"}`, `{"b64_json"}`.

    The last is bare base64, which becomes a data URL. None if the part has no image.
    """
    if isinstance(part, str):
        return part or None
    if not isinstance(part, dict):
        return None
    data = part.get("b64_json")
    if isinstance(data, str) and data:
        return data if data[:5].lower() == "data:" else f"data:image/png;base64,{data}"
    found = part.get("image_url") or part.get("url")
    return address_in(found.get("url") if isinstance(found, dict) else found)


def shown_address(url: str) -> str | None:
    """Return the URL as clients get it and as it is sent back; None if it is not an image.

    The data determines the image type: some providers declare the wrong one, and others then reject the image.
    """
    if (head := _DATA.match(url)) is None:
        return url if url[:8].lower() == "https://" and is_web(url) else None
    kind = _kind_of(url[head.end() :]) if url.isascii() else None
    if kind is None:
        return None
    right = f"data:image/{kind};base64,"
    return url if head.group() == right else right + url[head.end() :]


def is_web(url: str) -> bool:
    """Whether a browser may open the URL."""
    is_http = url[:8].lower().startswith(("http://", "https://"))
    return is_http and len(url) <= _LONGEST_URL and url.isprintable() and " " not in url


def _kind_of(data: str) -> str | None:
    """Return the type of an image by its first bytes; None for an unknown type and for invalid base64."""
    body = data.rstrip("=").encode()
    if len(data) - len(body) > 2 or len(body) % 4 == 1 or body.translate(None, _ALPHABET):
        return None
    head = body[:_HEAD]
    try:
        first = b64decode(head + b"=" * (-len(head) % 4))
    except binascii.Error:
        return None
    return image_type(first)
