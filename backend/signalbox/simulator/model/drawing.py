"""The image that the simulated model returns."""

import struct
import zlib
from base64 import b64encode
from functools import cache
from typing import Any

from ..http.incoming import Incoming
from .turns import Turn

DREW = "Here is a sunrise over the sea. A simulated model draws the same image for every request."
WORDS_ONLY = "I can draw, but this request does not ask for images: add `image` to `modalities`."


def draw(incoming: Incoming) -> Turn:
    """Return a turn with an image if the request asks for one, else with text."""
    return Turn(DREW, images=(sunrise(),)) if incoming.may_draw else Turn(WORDS_ONLY)


def image_part(url: str) -> dict[str, Any]:
    """Return an image as an entry of OpenRouter's `images`."""
    return {"type": "image_url", "image_url": {"url": url}}


@cache
def sunrise() -> str:
    """Return the image as a data URL."""
    return f"data:image/png;base64,{b64encode(_png()).decode()}"


def _png(width: int = 320, height: int = 180) -> bytes:
    """Draw a sky, a sun and the sea."""
    rows = b"".join(b"\0" + b"".join(_pixel(x, y, width, height) for x in range(width)) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_png_chunk, *zip(*chunks, strict=True)))


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _pixel(x: int, y: int, width: int, height: int) -> bytes:
    horizon = height * 2 // 3
    if y >= horizon:
        return bytes((24, 60 + (height - y) // 2, 110))
    if (x - width // 2) ** 2 + (y - horizon + 30) ** 2 < 28**2:
        return bytes((255, 214, 120))
    return bytes((120 + y, 130 + y // 2, 200 - y // 2))
