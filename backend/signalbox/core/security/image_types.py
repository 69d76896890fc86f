"""Image types that browsers show, recognized by the first bytes of a file."""

IMAGE_HEAD = 48
"""How many bytes `image_type` needs at most."""


def image_type(first: bytes) -> str | None:
    """Return the subtype of `image/…`, None for anything else. SVG is a document with scripts, so it is not one."""
    if first.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if first.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if first.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if first[:4] == b"RIFF" and first[8:12] == b"WEBP":
        return "webp"
    brands = first[8:IMAGE_HEAD] if first[4:8] == b"ftyp" else b""
    return "avif" if b"avif" in brands or b"avis" in brands else None
