"""Assembles the arguments of a call that Gemini streams as pairs of a JSONPath and a value.

Recorded from Gemini 3.1 (google-stream-tool-call-arguments): first the name with `willContinue`, then `partialArgs`,
then an empty `functionCall`. A string arrives in pieces with the same path.
"""

import re
from itertools import pairwise
from typing import TypeAlias

from signalbox.core.messages import MAX_DEPTH, JsonObject, JsonValue
from signalbox.wire.gemini.values import text_in

_Step: TypeAlias = str | int
# `$.orders[0].note`, and a key in brackets: `$['a key']`.
_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")
_ESCAPED = re.compile(r"\\(.)")
_SCALARS = ("numberValue", "boolValue")


class PartialArguments:
    """Collects the pieces of one call. A path that cannot be read is left out, and `is_sound` becomes False."""

    def __init__(self) -> None:
        self.value: JsonObject = {}
        self.is_sound = True
        self._path = ""
        self._pieces: list[str] = []

    def add(self, piece: JsonObject) -> None:
        """Set or continue the value at a path."""
        path = text_in(piece, "jsonPath")
        text = piece.get("stringValue")
        if isinstance(text, str):
            if path != self._path:
                self._flush()
                self._path = path
            self._pieces.append(text)
            return
        self._flush()
        if "nullValue" in piece:
            self._set(path, None)
            return
        key = next((key for key in _SCALARS if key in piece), None)
        if key is not None:
            self._set(path, piece[key])

    def result(self) -> JsonObject:
        """Return the arguments so far."""
        self._flush()
        return self.value

    def _flush(self) -> None:
        """Write the pieces of the open string, which are joined once."""
        if self._pieces:
            self._set(self._path, "".join(self._pieces))
        self._path, self._pieces = "", []

    def _set(self, path: str, value: JsonValue) -> None:
        steps = _steps_of(path)
        if not steps or not isinstance(steps[0], str):
            self.is_sound = False
            return
        place: JsonValue = self.value
        for step, following in pairwise(steps):
            if not isinstance(_at(place, step), dict | list):
                self.is_sound = _put(place, step, [] if isinstance(following, int) else {}) and self.is_sound
            place = _at(place, step)
        before = _at(place, steps[-1])
        if isinstance(before, str) and isinstance(value, str):  # continued after another path
            value = before + value
        self.is_sound = _put(place, steps[-1], value) and self.is_sound


def _steps_of(path: str) -> list[_Step]:
    """Return the keys and indexes of a path; empty if it cannot be read."""
    steps: list[_Step] = []
    at = 1
    while path.startswith("$") and at < len(path):
        found = _STEP.match(path, at)
        if found is None or len(steps) >= MAX_DEPTH:
            return []
        name, index, single, double = found.groups()
        quoted = single if single is not None else double
        steps.append(int(index) if index else name or _ESCAPED.sub(r"\1", quoted or ""))
        at = found.end()
    return steps


def _at(place: JsonValue, step: _Step) -> JsonValue:
    if isinstance(place, dict) and isinstance(step, str):
        return place.get(step)
    if isinstance(place, list) and isinstance(step, int) and step < len(place):
        return place[step]
    return None


def _put(place: JsonValue, step: _Step, value: JsonValue) -> bool:
    """Write a value; return whether its place exists. An index behind the end of the list has none."""
    if isinstance(place, dict) and isinstance(step, str):
        place[step] = value
        return True
    if isinstance(place, list) and isinstance(step, int) and step <= len(place):
        place[step : step + 1] = [value]
        return True
    return False
