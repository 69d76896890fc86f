"""The image that the simulated model returns."""

import hashlib
import json
import struct
import zlib
from base64 import b64encode
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..http.incoming import Incoming
from .turns import Turn

DREW = "Here is a sunrise over the sea. A simulated model draws only this scene; its colors depend on the prompt."
WORDS_ONLY = "I can draw, but this request does not ask for images: add `image` to `modalities`."

Color = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Scene:
    """What differs between the images: the colors, and where the sun stands (in pixels)."""

    sky: Color = (120, 130, 200)
    sea: Color = (24, 60, 110)
    sun: Color = (255, 214, 120)
    sun_x: int = 160
    sun_above: int = 30
    sun_radius: int = 28


def draw(incoming: Incoming) -> Turn:
    """Return a turn with an image if the request asks for one, else with text."""
    if not incoming.may_draw:
        return Turn(WORDS_ONLY)
    prompt = incoming.messages[incoming.question_at] if incoming.question_at >= 0 else {}
    return Turn(DREW, images=(sunrise(scene_for(json.dumps(prompt, sort_keys=True))),))


def scene_for(prompt: str) -> Scene:
    """Return the scene for a prompt with its images: the same for equal prompts, and usually another one for others."""
    seed = hashlib.sha256(prompt.encode()).digest()
    return Scene(
        sky=(40 + seed[0] // 2, 50 + seed[1] // 2, 90 + seed[2] // 2),
        sea=(seed[3] // 4, 40 + seed[4] // 4, 70 + seed[5] // 3),
        sun=(255, 130 + seed[6] // 2, 40 + seed[7] // 2),
        sun_x=50 + seed[8] * 220 // 255,
        sun_above=seed[9] * 80 // 255,
        sun_radius=16 + seed[10] // 12,
    )


def image_part(url: str) -> dict[str, Any]:
    """Return an image as an entry of OpenRouter's `images`."""
    return {"type": "image_url", "image_url": {"url": url}}


@lru_cache(maxsize=64)
def sunrise(scene: Scene = Scene()) -> str:
    """Return the image as a data URL."""
    return f"data:image/png;base64,{b64encode(_png(scene)).decode()}"


def _png(scene: Scene, width: int = 320, height: int = 180) -> bytes:
    """Draw a sky, a sun and the sea."""
    rows = b"".join(b"\0" + b"".join(_pixel(scene, x, y, height) for x in range(width)) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_png_chunk, *zip(*chunks, strict=True)))


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _pixel(scene: Scene, x: int, y: int, height: int) -> bytes:
    horizon = height * 2 // 3
    if y >= horizon:
        red, green, blue = scene.sea
        return bytes((red, green + (height - y) // 2, blue))
    if (x - scene.sun_x) ** 2 + (y - horizon + scene.sun_above) ** 2 < scene.sun_radius**2:
        return bytes(scene.sun)
    red, green, blue = scene.sky
    return bytes((min(red + y, 255), min(green + y // 2, 255), max(blue - y // 2, 0)))
