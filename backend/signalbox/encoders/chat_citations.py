"""The sources of an answer as OpenAI's annotations (`url_citation`): the provider's, and those of our searches."""

import re
from collections.abc import Sequence
from typing import cast

from msgspec import UNSET

from signalbox.core.events import Source, Success, ToolResult
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.encoders.step_offsets import StepOffsets

# How a model cites a numbered result of a search (`tools/search_web.py`).
_MARKER = re.compile(r"\[(\d{1,4})\]")
_LONGEST_MARKER = len("[1234]")


class CitedSources:
    """Follows the text of an answer, and finds which results of searches it cites, and where.

    Offsets count characters of the whole text. A provider's offsets are relative to the text of their step.
    """

    def __init__(self) -> None:
        self._offsets = StepOffsets()
        self._results: dict[int, tuple[str, str]] = {}
        self._citations: dict[int, tuple[int, int]] = {}
        self._tail = ""

    def add_text(self, text: str) -> None:
        """Take in a piece of the answer."""
        if self._results:
            self._find_markers(text)
        self._offsets.add_text(text)

    def _find_markers(self, text: str) -> None:
        seen = self._tail + text
        start = self._offsets.length - len(self._tail)
        for found in _MARKER.finditer(seen):
            n = int(found[1])
            if n in self._results:
                self._citations.setdefault(n, (start + found.start(), start + found.end()))
        self._tail = seen[1 - _LONGEST_MARKER :]

    def end_step(self) -> None:
        """Begin to count the offsets of the next step's text."""
        self._offsets.end_step()

    def add_result(self, event: ToolResult) -> None:
        """Take in a tool's result; of a search, its numbered results can be cited from now on."""
        if event.category == "search" and isinstance(outcome := event.outcome, Success):
            found = cast("object", outcome.result)  # a plugin's tool may return any JSON
            results = cast("dict[str, object]", found).get("results") if isinstance(found, dict) else None
            self._add_results(cast("list[object]", results) if isinstance(results, list) else [])

    def _add_results(self, results: list[object]) -> None:
        for one in results:
            match one:
                case {"n": int(n), "url": str(url), "title": str(title)}:
                    self._results[n] = (url, title)
                case _:
                    pass

    @property
    def cited(self) -> list[tuple[int, str, str]]:
        """The cited results of searches, each once: number, URL and title."""
        return [(n, *self._results[n]) for n in self._citations]

    def annotations(self) -> list[JsonValue]:
        """Return the cited results of searches, each once, where the text cites it first."""
        return [_annotation(*self._results[n], at) for n, at in self._citations.items()]

    def annotations_of(self, sources: Sequence[Source]) -> list[JsonValue]:
        """Return what the provider cites."""
        return [_annotation_of(self._offsets.placed(source)) for source in sources]


def _annotation_of(source: Source) -> JsonValue:
    start, end = source.start_index, source.end_index
    at = (0, 0) if start is UNSET or end is UNSET else (start, end)
    return _annotation(source.url, source.title, at, "" if source.snippet is UNSET else source.snippet)


def _annotation(url: str, title: str, at: tuple[int, int], snippet: str = "") -> JsonValue:
    citation: JsonObject = {"url": url, "title": title, "start_index": at[0], "end_index": at[1]}
    if snippet:
        citation["content"] = snippet
    return {"type": "url_citation", "url_citation": citation}
