"""Merges the reasoning details of one answer, which arrive in pieces and are sent back whole."""

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonObject, JsonValue, ReasoningDetail

_CONCATENATED = ("text", "summary")
# No real answer has more: a detail is a paragraph of reasoning or a call's signature.
MOST_DETAILS = 10_000


class ReasoningDetails:
    """Merges pieces by type and index (quirk B3): text is concatenated, other fields take the last value.

    A second `data` or another id starts a new item: Gemini signs each of several calls at one index.
    """

    def __init__(self) -> None:
        self._items: list[JsonObject] = []
        self._places: dict[tuple[JsonValue, JsonValue], int] = {}
        self._texts: dict[tuple[int, str], list[str]] = {}  # by place and key, joined once: linear time

    def merge(self, new: JsonObject) -> None:
        """Merge one piece; raises UpstreamError above MOST_DETAILS."""
        key = _hashable(new.get("type")), _hashable(new.get("index"))
        place = self._places.get(key)
        if place is None or _is_other(self._items[place], new):
            if len(self._items) >= MOST_DETAILS:
                words = f"The answer has more than {MOST_DETAILS:,} reasoning details."
                raise UpstreamError(Code.UPSTREAM_PROTOCOL, words, retryable=False)
            self._places[key] = len(self._items)
            self._items.append(dict(new))
        else:
            self._grow(place, new)

    def _grow(self, place: int, new: JsonObject) -> None:
        old = self._items[place]
        for key, value in new.items():
            if value is None and key in old:
                continue
            before = old.get(key)
            if key in _CONCATENATED and isinstance(before, str) and isinstance(value, str):
                self._texts.setdefault((place, key), [before]).append(value)
            else:
                old[key] = value
                self._texts.pop((place, key), None)

    def pop_all(self) -> tuple[ReasoningDetail, ...]:
        """Return the merged items and start over."""
        for (place, name), pieces in self._texts.items():
            self._items[place][name] = "".join(pieces)
        items, self._items, self._places, self._texts = self._items, [], {}, {}
        return tuple(ReasoningDetail(raw) for raw in items)


def _hashable(value: JsonValue) -> JsonValue:
    return repr(value) if isinstance(value, list | dict) else value


def _is_other(old: JsonObject, new: JsonObject) -> bool:
    ids = old.get("id"), new.get("id")
    if all(ids) and ids[0] != ids[1]:
        return True
    return bool(old.get("data") and new.get("data"))
