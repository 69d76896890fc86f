"""The reasoning details of one answer, which come in pieces and go back as a whole."""

from signalbox.core.messages import JsonObject, JsonValue, ReasoningDetail

_CONCATENATED = ("text", "summary")


class ReasoningDetails:
    """Merges pieces by type and index (quirk B3): text grows, for the rest the last word holds.

    A second `data`, or another id, is another item: Gemini signs each of several calls at one index.
    """

    def __init__(self) -> None:
        self._items: list[JsonObject] = []
        self._places: dict[tuple[JsonValue, JsonValue], int] = {}

    def merge(self, new: JsonObject) -> None:
        """Take one piece."""
        key = _hashable(new.get("type")), _hashable(new.get("index"))
        place = self._places.get(key)
        if place is None or _is_other(self._items[place], new):
            self._places[key] = len(self._items)
            self._items.append(dict(new))
        else:
            _grow(self._items[place], new)

    def take(self) -> tuple[ReasoningDetail, ...]:
        """Return all that came, and forget it."""
        items, self._items, self._places = self._items, [], {}
        return tuple(ReasoningDetail(raw) for raw in items)


def _hashable(value: JsonValue) -> JsonValue:
    return repr(value) if isinstance(value, list | dict) else value


def _grow(old: JsonObject, new: JsonObject) -> None:
    for key, value in new.items():
        if value is None and key in old:
            continue
        before = old.get(key)
        if key in _CONCATENATED and isinstance(before, str) and isinstance(value, str):
            old[key] = before + value
        else:
            old[key] = value


def _is_other(old: JsonObject, new: JsonObject) -> bool:
    ids = old.get("id"), new.get("id")
    if all(ids) and ids[0] != ids[1]:
        return True
    return bool(old.get("data") and new.get("data"))
