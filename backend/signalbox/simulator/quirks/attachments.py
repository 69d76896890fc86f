"""Cited pages and generated images, in separate fields (E14)."""

from typing import Any

from ..completion import Completion
from ..families import Family
from ..http.incoming import Incoming
from ..model.drawing import image_part, sunrise
from ..model.turns import Turn
from .quirk import ChangeStream, Chunk, Quirk, altered, choice, delta

CITED = "Spring tides come with the new moon and the full moon, neap tides with the half moons."
DRAWN = "Here is a sunrise over the sea.", "The sun stands just above the horizon."
_PAGES = (
    ("https://oceanservice.noaa.gov/facts/springtide.html", "What are spring and neap tides?", (0, 51)),
    ("https://en.wikipedia.org/wiki/Tide", "Tide", (52, 86)),
)


def _annotations() -> list[dict[str, Any]]:
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "url": url,
                "title": title,
                "content": f"{title}: an excerpt of the page.",
                "start_index": start,
                "end_index": end,
            },
        }
        for url, title, (start, end) in _PAGES
    ]


def _fields(kind: str) -> dict[str, Any]:
    if kind == "annotations":
        return {"annotations": _annotations()}
    return {"images": [image_part(sunrise())] if kind == "images" else [_LINKED]}


_LINKED = image_part("https://images.example.org/sunrise.png")


def _in_own_chunk(kind: str, *, after: str) -> ChangeStream:
    """Send the fields in a separate chunk after the text `after`."""

    def stream(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
        added = altered(chunks[0], content="", **_fields(kind))
        left = len(after)
        for place, chunk in enumerate(chunks):
            text = delta(chunk).get("content") or ""
            if choice(chunk).get("finish_reason"):
                return [*chunks[:place], added, *chunks[place:]]
            if text and left <= len(text):
                cut = [altered(chunk, content=text[:left]), added, altered(chunk, content=text[left:])]
                return [*chunks[:place], *cut, *chunks[place + 1 :]]
            left -= len(text)
        return chunks

    return stream


def _whole(kind: str) -> Any:
    def whole(completion: Completion, body: Chunk) -> Chunk:
        choice(body)["message"].update(_fields(kind))
        return body

    return whole


def _quirk(kind: str, text: str, *, after: str = "") -> Quirk:
    def turn(incoming: Incoming, family: Family) -> Turn:
        return Turn(text)

    return Quirk(turn=turn, stream=_in_own_chunk(kind, after=after), whole=_whole(kind))


QUIRKS: dict[str, Quirk] = {
    "e14": _quirk("annotations", CITED, after=CITED),
    "e14-image": _quirk("images", "\n\n".join(DRAWN), after=DRAWN[0]),
    "e14-image-only": _quirk("images", ""),
    "e14-image-link": _quirk("linked", DRAWN[0], after=DRAWN[0]),
}
