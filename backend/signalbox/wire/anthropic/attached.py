"""Writes images and files of the user as blocks."""

import binascii
from base64 import b64decode

from signalbox.core.messages import FilePart, ImagePart, JsonObject

# Anthropic's documentation of vision. A request with more than 20 images may contain none over 2,000 pixels in width
# or height; sizes are not checked here, so the API rejects such a request.
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_PDF = "application/pdf"


def image_of(part: ImagePart) -> JsonObject:
    """Return an image block; text in its place for a type that the API does not read."""
    if (data := _data_url(part.url)) is None:
        return {"type": "image", "source": {"type": "url", "url": part.url}}
    media_type, body = data
    media_type = "image/jpeg" if media_type == "image/jpg" else media_type
    if media_type not in _IMAGES:
        return {
            "type": "text",
            "text": f"(An image of type {media_type[:80]} was here, which this model cannot read.)",
        }
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": body}}


def document_of(part: FilePart) -> JsonObject:
    """Return a document block for a PDF, a text or an address; text in its place for any other file."""
    block: JsonObject = {"type": "document"}
    data = _data_url(part.data)
    if data is None:
        block["source"] = {"type": "url", "url": part.data}
    elif data[0] == _PDF:
        block["source"] = {"type": "base64", "media_type": _PDF, "data": data[1]}
    elif (text := _decoded(data[1])) is not None:
        block["source"] = {"type": "text", "media_type": "text/plain", "data": text}
    else:
        return {"type": "text", "text": f"(The file {part.filename[:200]} was here, which this model cannot read.)"}
    return {**block, "title": part.filename} if part.filename else block


def _data_url(url: str) -> tuple[str, str] | None:
    """Return the media type and the base64 of a data URL."""
    head, separator, body = url.partition(",")
    if not separator or head[:5].lower() != "data:" or not head.lower().endswith(";base64"):
        return None
    return head[5:].split(";")[0].lower(), body


def _decoded(body: str) -> str | None:
    """Return the text of a file; None for a file that is not text, or that is blank."""
    try:
        text = b64decode(body, validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    return text if text.strip() and "\0" not in text else None
