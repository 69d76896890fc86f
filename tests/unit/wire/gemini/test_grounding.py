"""Sources of grounded answers become citations."""

from typing import Any

from signalbox.core.parts import Citation, Omitted

from tests.unit.wire.gemini.responses import decode, response

TEXT = "Zürich is a city. It has a lake."


def cited(metadata: dict[str, Any], text: str = TEXT) -> list[Citation]:
    """Decode an answer with this metadata, sent twice as some streams do, and return its citations."""
    value = response({"text": text})
    value["candidates"][0]["groundingMetadata"] = metadata
    again = response()
    again["candidates"][0]["groundingMetadata"] = metadata
    return [part for part in decode(value, again) if isinstance(part, Citation)]


def test_positions_are_characters() -> None:
    """Gemini counts bytes of UTF-8, and leaves out the start 0. A source without a position is cited, too."""
    chunks = [{"web": {"uri": f"https://{name}.example", "title": name}} for name in "abc"]
    supports = [
        {"segment": {"endIndex": 18, "text": "Zürich is a city."}, "groundingChunkIndices": [0, 1]},
        {"segment": {"startIndex": 19, "endIndex": 33}, "groundingChunkIndices": [1, 9, "x"]},
    ]
    assert cited({"groundingChunks": chunks, "groundingSupports": supports}) == [
        Citation("https://a.example", "a", "", 0, 17),
        Citation("https://b.example", "b", "", 0, 17),
        Citation("https://b.example", "b", "", 18, 32),
        Citation("https://c.example", "c"),
    ]


def test_all_kinds_of_sources() -> None:
    """Files, maps and images have an address as well; a file without one cannot be linked."""
    chunks = [
        {"retrievedContext": {"uri": "https://a.example/f", "title": "F", "text": "The text."}},
        {"maps": {"uri": "https://maps.example/1", "title": "Place"}},
        {"image": {"sourceUri": "https://b.example/page", "imageUri": "https://b.example/i.png", "title": "I"}},
    ]
    assert cited({"groundingChunks": chunks}) == [
        Citation("https://a.example/f", "F", "The text."),
        Citation("https://maps.example/1", "Place"),
        Citation("https://b.example/page", "I"),
    ]
    value = response({"text": "a"})
    value["candidates"][0]["groundingMetadata"] = {"groundingChunks": [{"retrievedContext": {"text": "T"}}]}
    assert Omitted("A source in the answer could not be shown and was left out.") in decode(value)


def test_sources_of_quotations() -> None:
    """A recited source is cited with its position; one without an address is skipped."""
    value = response({"text": TEXT})
    sources = [{"startIndex": 0, "endIndex": 7, "uri": "https://a.example"}, {"startIndex": 0, "endIndex": 7}]
    value["candidates"][0]["citationMetadata"] = {"citationSources": sources}
    assert [part for part in decode(value) if not hasattr(part, "text")][:1] == [
        Citation("https://a.example", start=0, end=6)
    ]
