"""Citations and images of an answer: limited in number and size, without duplicates."""

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import Citation, ImageDelta, Omitted, StreamPart
from signalbox.wire.openrouter.images import address_in, is_web, shown_address

# In characters of the URL: 12 million are an image of 9 MB in base64.
LONGEST_IMAGE = 12_000_000
MOST_IMAGE_TEXT = 24_000_000
MOST_IMAGES = 16
MOST_CITATIONS = 200
_NO_IMAGE = "An image in the answer could not be read and was left out."
_NOT_SHOWN = "An image in the answer is of an unsupported kind and was left out."
_NO_PAGE = "A source in the answer could not be shown and was left out."
# The text that OpenRouter extracted from a PDF of the request; not part of the answer.
_PARSED_FILE = "file"


class Attachments:
    """Decodes `annotations` and `images` of one answer; providers may repeat them in several chunks."""

    def __init__(self) -> None:
        self._cited: set[Citation] = set()
        self._drawn: set[str] = set()
        self._images = 0
        self._size = 0
        self._omitted: set[str] = set()

    def decode(self, delta: JsonObject, out: list[StreamPart]) -> None:
        """Append the citations and images of a delta or a message."""
        for annotation in _listed(delta.get("annotations")):
            self._cite(annotation, out)
        for image in _listed(delta.get("images")):
            self.image(image, out)

    def image(self, part: JsonValue, out: list[StreamPart]) -> None:
        """Append the image of a part, in any form that providers use, or the reason for leaving it out."""
        url = address_in(part)
        if url is None:
            self._omit(_NO_IMAGE, out)
            return
        if url in self._drawn:
            return
        if (why := self._too_much(url)) is not None:
            self._omit(why, out)
            return
        if (shown := shown_address(url)) is None:
            self._omit(_NOT_SHOWN, out)
            return
        if shown not in self._drawn:
            self._images += 1
            self._size += len(shown)
            out.append(ImageDelta(shown))
        self._drawn.update((url, shown))

    def _too_much(self, url: str) -> str | None:
        if len(url) > LONGEST_IMAGE or self._size + len(url) > MOST_IMAGE_TEXT:
            return "An image in the answer is too large and was left out."
        if self._images >= MOST_IMAGES:
            return f"The answer has more than {MOST_IMAGES} images; the rest were left out."
        return None

    def _cite(self, annotation: JsonValue, out: list[StreamPart]) -> None:
        fields = annotation if isinstance(annotation, dict) else {}
        if fields.get("type") == _PARSED_FILE:
            return
        found = fields.get("url_citation")
        citation_fields = found if isinstance(found, dict) else fields
        if fields.get("type") != "url_citation":
            self._omit(_NO_PAGE, out)
            return
        start, end = _index(citation_fields.get("start_index")), _index(citation_fields.get("end_index"))
        placed = start is not None and end is not None and start < end
        citation = Citation(
            _text(citation_fields.get("url")),
            _text(citation_fields.get("title")),
            _text(citation_fields.get("content")),
            start if placed else None,
            end if placed else None,
        )
        self.cite(citation, out)

    def cite(self, citation: Citation, out: list[StreamPart]) -> None:
        """Append a source once, or the reason for leaving it out: it is no web page, or there are too many."""
        if not is_web(citation.url):
            self._omit(_NO_PAGE, out)
            return
        if citation in self._cited:
            return
        if len(self._cited) >= MOST_CITATIONS:
            self._omit(f"The answer cites more than {MOST_CITATIONS} sources; the rest were left out.", out)
            return
        self._cited.add(citation)
        out.append(citation)

    def _omit(self, why: str, out: list[StreamPart]) -> None:
        """Append each reason for an omission once."""
        if why not in self._omitted:
            self._omitted.add(why)
            out.append(Omitted(why))


def _listed(value: JsonValue) -> list[JsonValue]:
    """Return a field as a list; a provider may send a single item without its list."""
    if isinstance(value, list):
        return value
    return [value] if value else []


def _index(value: JsonValue) -> int | None:
    return value if type(value) is int and 0 <= value < 2**31 else None


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
