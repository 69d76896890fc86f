"""Citations and images of an answer: decoded once, limited, in every field and shape that providers use."""

import json
from base64 import b64encode
from typing import Any

import pytest
from signalbox.core.parts import Citation, EndOfStream, ImageDelta, Omitted, StreamPart, TextDelta
from signalbox.wire.openrouter import attachments
from signalbox.wire.openrouter.decoder import parts_of_body
from signalbox.wire.openrouter.stream import ChatStreamDecoder

PNG = "data:image/png;base64,iVBORw0KGgo="
PAGE = "https://example.org/a"


def cites(url: object, **fields: Any) -> dict[str, Any]:
    """Write a citation as OpenRouter does."""
    return {"type": "url_citation", "url_citation": {"url": url, **fields}}


def draws(url: object) -> dict[str, Any]:
    """Write an image as OpenRouter does."""
    return {"type": "image_url", "image_url": {"url": url}}


def heard(*deltas: dict[str, Any]) -> list[StreamPart]:
    """Decode deltas, one per read, after enough plain text to enable the fast paths."""
    decoder = ChatStreamDecoder()
    parts: list[StreamPart] = []
    for delta in ({"content": "a"}, {"content": "b"}, {"content": "c"}, *deltas):
        parts += decoder.feed(b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n")
    return parts[3:]


def test_annotations_beside_empty_text_are_not_lost() -> None:
    """A chunk that is plain except for its annotations or images is decoded in full."""
    told = cites(PAGE, title="A", content="Quoted.", start_index=2, end_index=9)
    assert heard({"content": "", "annotations": [told]}) == [Citation(PAGE, "A", "Quoted.", 2, 9)]
    assert heard({"content": "x", "images": [draws(PNG)]}) == [TextDelta("x"), ImageDelta(PNG)]


def test_empty_lists_give_no_parts() -> None:
    """Empty fields in every chunk keep the fast path."""
    assert heard({"content": "x", "annotations": [], "images": []}) == [TextDelta("x")]


def test_a_whole_body_gives_the_same_parts() -> None:
    """The fields of a message are decoded like those of a delta, after the text."""
    message = {"content": "x", "annotations": [cites(PAGE)], "images": [draws(PNG)]}
    body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
    parts = parts_of_body(body)
    assert parts[:3] == [TextDelta("x"), Citation(PAGE), ImageDelta(PNG)]
    assert parts[-1] == EndOfStream()


def test_an_image_among_content_parts() -> None:
    """An image among the content parts is decoded, in the order of the parts."""
    content = [{"type": "text", "text": "x"}, draws(PNG), {"type": "text", "text": "y"}]
    assert heard({"content": content}) == [TextDelta("x"), ImageDelta(PNG), TextDelta("y")]


def test_repeated_citations_and_images_are_decoded_once() -> None:
    """Providers repeat the whole list in each chunk; another position on the same page is another citation."""
    first, other, images = cites(PAGE), cites(PAGE, start_index=4, end_index=9), [draws(PNG)]
    got = heard({"annotations": [first], "images": images}, {"annotations": [first, other], "images": images})
    assert got == [Citation(PAGE), ImageDelta(PNG), Citation(PAGE, start=4, end=9)]


@pytest.mark.parametrize(
    "annotation",
    [
        cites("javascript:alert(1)"),
        cites("data:text/html,x"),
        cites("https://example.org/a b"),
        cites("https://example.org/" + "a" * 3000),
        cites(7),
        {"type": "file_citation", "file_citation": {"file_id": "x"}},
        {"type": "url_citation"},
        {"type": "url_citation", "url_citation": None},
    ],
)
def test_invalid_citations_are_reported(annotation: dict[str, Any]) -> None:
    """Only URLs that a browser may open are sources; the others are reported once."""
    [omitted] = heard({"annotations": [annotation, 3, None]}, {"annotations": [annotation]})
    assert isinstance(omitted, Omitted)
    assert "source" in omitted.why


def test_annotations_of_a_file_are_ignored() -> None:
    """OpenRouter sends the text of the user's own PDF as an annotation."""
    assert heard({"annotations": [{"type": "file", "file": {"hash": "x"}}]}) == []


@pytest.mark.parametrize(
    "image",
    [PNG, {"url": PNG}, {"image_url": PNG}, draws(PNG), {"b64_json": PNG.partition(",")[2]}, {"b64_json": PNG}],
)
def test_every_form_of_an_image_is_decoded(image: object) -> None:
    """Providers write images in many forms, and one of them outside the list."""
    assert heard({"images": [image]}) == [ImageDelta(PNG)]
    assert heard({"images": image}) == [ImageDelta(PNG)]


@pytest.mark.parametrize("image", [3, None, {}, {"image_url": {"url": 7}}, {"file_id": "x"}, [PNG]])
def test_an_image_without_a_url_is_reported(image: object) -> None:
    """A repeated image is emitted once."""
    [omitted] = heard({"images": [image]}, {"images": [image, image]})
    assert isinstance(omitted, Omitted)
    assert "could not be read" in omitted.why


SIGNATURES = {
    "jpeg": b"\xff\xd8\xff\xe0",
    "gif": b"GIF89a",
    "webp": b"RIFF\0\0\0\0WEBP",
    "avif": b"\0\0\0\x1cftypavif",
    "png": b"\x89PNG\r\n\x1a\n",
}


@pytest.mark.parametrize("kind", SIGNATURES)
@pytest.mark.parametrize("named", ["png", "jpeg", "JPG"])
def test_the_media_type_of_an_image_is_corrected(kind: str, named: str) -> None:
    """The data decides the type: providers reject a wrong one when the image is sent back."""
    data = b64encode(SIGNATURES[kind] + b"rest").decode()
    assert heard({"images": [f"data:image/{named};base64,{data}"]}) == [ImageDelta(f"data:image/{kind};base64,{data}")]


@pytest.mark.parametrize(
    "url",
    [
        "data:image/svg+xml;base64,PHN2Zz4=",
        "data:text/html;base64,PHN2Zz4=",
        "data:image/png;base64,",
        "data:image/png;base64,iVBO",
        "data:image/png;base64,====A=",
        "data:image/png;base64,AAAAAAAAAAAAAAAA",
        "data:image/png;base64,iVBORw0KGgo===",
        "data:image/png;base64,iVBORw0KGgoAA",
        'data:image/png;base64,iVBO"><script>',
        "data:image/png,raw",
        "http://example.org/a.png",
        "javascript:alert(1)",
        "//example.org/a.png",
    ],
)
def test_an_unsupported_image_is_reported(url: str) -> None:
    """Only raster images in base64 and https URLs are emitted."""
    [omitted] = heard({"images": [draws(url)]})
    assert isinstance(omitted, Omitted)
    assert "kind" in omitted.why


def test_limits_are_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each limit (size, images, citations) is reported in one sentence; earlier items stay."""
    monkeypatch.setattr(attachments, "LONGEST_IMAGE", 40)
    monkeypatch.setattr(attachments, "MOST_IMAGES", 2)
    monkeypatch.setattr(attachments, "MOST_CITATIONS", 2)
    long = draws(PNG.replace("iVBOR", "iVBOR" * 9))
    images = [long, long, *(draws(PNG.replace("Ggo=", f"Ggo{n}")) for n in range(4))]
    got = heard({"images": images, "annotations": [cites(f"{PAGE}{n}") for n in range(4)]})
    assert [type(part) for part in got] == [Citation, Citation, Omitted, Omitted, ImageDelta, ImageDelta, Omitted]
    words = [part.why for part in got if isinstance(part, Omitted)]
    assert ["cites more than 2" in words[0], "too large" in words[1], "more than 2 images" in words[2]] == [True] * 3
