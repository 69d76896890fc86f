"""What an answer holds beside its text: pages that it cites, images that it draws; bounded, and each of them once."""

import re

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import Citation, ImageDelta, Omitted, StreamPart

# In characters of the address: 12 M are an image of 9 MB.
LONGEST_IMAGE = 12_000_000
MOST_IMAGE_TEXT = 24_000_000
MOST_IMAGES = 16
MOST_CITATIONS = 200
_LONGEST_URL = 2_000
_DATA = re.compile(r"data:image/(?:png|jpeg|jpg|gif|webp|avif);base64,", re.IGNORECASE)
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="


class Attachments:
    """Reads `annotations` and `images` of one answer; hosts may send the same ones in several chunks."""

    def __init__(self) -> None:
        self._cited: set[Citation] = set()
        self._drawn: set[str] = set()
        self._size = 0
        self._omitted: set[str] = set()

    def read(self, delta: JsonObject, out: list[StreamPart]) -> None:
        """Append the citations and images of a delta or a message."""
        for annotation in _dicts(delta.get("annotations")):
            self._cite(annotation, out)
        for image in _dicts(delta.get("images")):
            self.image(image, out)

    def image(self, part: JsonObject, out: list[StreamPart]) -> None:
        """Append the image of a part `{"type": "image_url", "image_url": {"url": …}}`."""
        holder = part.get("image_url")
        url = holder.get("url") if isinstance(holder, dict) else holder
        if not isinstance(url, str) or not url or url in self._drawn:
            return
        why = self._why_not(url)
        if why is not None:
            self._omit(why, out)
            return
        self._drawn.add(url)
        self._size += len(url)
        out.append(ImageDelta(url))

    def _why_not(self, url: str) -> str | None:
        if len(url) > LONGEST_IMAGE or self._size + len(url) > MOST_IMAGE_TEXT:
            return "An image of the answer is too large and was left out."
        if len(self._drawn) >= MOST_IMAGES:
            return f"The answer has more than {MOST_IMAGES} images; the others were left out."
        return None if _is_image(url) else "An image of the answer is of a kind that is not shown, and was left out."

    def _cite(self, annotation: JsonObject, out: list[StreamPart]) -> None:
        found = annotation.get("url_citation")
        said = found if isinstance(found, dict) else annotation
        url = said.get("url")
        if annotation.get("type") != "url_citation" or not isinstance(url, str) or not _is_web(url):
            return
        start, end = _index(said.get("start_index")), _index(said.get("end_index"))
        placed = start is not None and end is not None and start < end
        citation = Citation(
            url,
            _text(said.get("title")),
            _text(said.get("content")),
            start if placed else None,
            end if placed else None,
        )
        if citation in self._cited:
            return
        if len(self._cited) >= MOST_CITATIONS:
            self._omit(f"The answer cites more than {MOST_CITATIONS} places; the others were left out.", out)
            return
        self._cited.add(citation)
        out.append(citation)

    def _omit(self, why: str, out: list[StreamPart]) -> None:
        """Say once for each reason that something was left out."""
        if why not in self._omitted:
            self._omitted.add(why)
            out.append(Omitted(why))


def _is_image(url: str) -> bool:
    """Whether it is an image as base64, of a kind that every browser draws, or an address on the web."""
    if (head := _DATA.match(url)) is None:
        return url[:8].lower() == "https://" and _is_web(url)
    if not url.isascii():
        return False
    body = url[head.end() :].encode()
    return bool(body) and not body.translate(None, _BASE64)


def _is_web(url: str) -> bool:
    is_web = url[:8].lower().startswith(("http://", "https://"))
    return is_web and len(url) <= _LONGEST_URL and url.isprintable() and " " not in url


def _dicts(value: JsonValue) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _index(value: JsonValue) -> int | None:
    return value if type(value) is int and 0 <= value < 2**31 else None


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
