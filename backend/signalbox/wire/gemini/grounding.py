"""Converts the sources of a grounded answer to citations."""

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import Citation, StreamPart
from signalbox.wire.gemini.values import index_of, object_in, objects_in, text_in
from signalbox.wire.openrouter.attachments import Attachments

# Kinds of a grounding chunk: Google Search, the user's own files, Google Maps, and image search.
_KINDS = ("web", "retrievedContext", "maps", "image")


def cite(candidate: JsonObject, written: str, attachments: Attachments, out: list[StreamPart]) -> None:
    """Append the sources of a candidate; `written` is the text of the answer so far.

    `groundingSupports` says which part of the answer each source supports. A source that supports no part is cited
    without a position.
    """
    metadata = object_in(candidate, "groundingMetadata")
    chunks = objects_in(metadata, "groundingChunks")
    placed: set[int] = set()
    for support in objects_in(metadata, "groundingSupports"):
        segment, numbers = object_in(support, "segment"), support.get("groundingChunkIndices")
        for number in numbers if isinstance(numbers, list) else ():
            if (index := index_of(number)) is not None and index < len(chunks):
                placed.add(index)
                attachments.cite(_citation(chunks[index], segment, written), out)
    for index, chunk in enumerate(chunks):
        if index not in placed:
            attachments.cite(_citation(chunk, {}, written), out)
    for source in objects_in(object_in(candidate, "citationMetadata"), "citationSources"):
        if text_in(source, "uri"):  # a source without an address is a mark for quoted code
            attachments.cite(_citation({"web": source}, source, written), out)


def _citation(chunk: JsonObject, segment: JsonObject, written: str) -> Citation:
    kind = next((kind for kind in _KINDS if kind in chunk), "")
    source = object_in(chunk, kind)
    # The first index is left out if it is 0.
    start, end = _offset(segment.get("startIndex", 0), written), _offset(segment.get("endIndex"), written)
    is_placed = start is not None and end is not None and start < end
    return Citation(
        text_in(source, "uri") or text_in(source, "sourceUri"),
        text_in(source, "title"),
        text_in(source, "text"),
        start if is_placed else None,
        end if is_placed else None,
    )


def _offset(value: JsonValue, written: str) -> int | None:
    """Return an offset in characters; Gemini counts bytes of UTF-8."""
    index = index_of(value)
    if index is None or written.isascii():
        return index
    return len(written.encode("utf-8", "replace")[:index].decode("utf-8", "ignore"))
