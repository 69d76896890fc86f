"""Finds the line of a field in a TOML file, because tomllib reports none for valid TOML."""

import re
from collections.abc import Sequence


class TomlLines:
    """The lines of a file. Positions are exact for `[[table]]` headers, and best guesses inside of values."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()

    def line_of(self, path: Sequence[str | int]) -> int:
        """Return the number of the line, from 1, of a field: ("upstream", 1, "name") is the name of the second one."""
        first, end, rest = 0, len(self._lines), list(path)
        if len(rest) > 1 and isinstance(rest[1], int) and (table := self._table(str(rest[0]), rest[1])):
            (first, end), rest = table, rest[2:]
        for key in rest:
            if isinstance(key, str):
                first = self._key(key, first, end)
        return first + 1

    def _table(self, name: str, index: int) -> tuple[int, int] | None:
        """Return where a table of an array begins and ends."""
        header = re.compile(rf"\s*\[\[\s*{re.escape(name)}\s*\]\]")
        starts = [number for number, line in enumerate(self._lines) if header.match(line)]
        ends = [*starts[1:], len(self._lines)]
        return (starts[index], ends[index]) if index < len(starts) else None

    def _key(self, key: str, first: int, end: int) -> int:
        """Return the next line that sets a key or opens its table, else `first`."""
        name = rf"[\"']?{re.escape(key)}[\"']?"
        pattern = re.compile(rf"(?:^|[\s.,{{\[]){name}\s*(?:[=.\]])")
        found = (number for number in range(first, end) if _code(self._lines[number], pattern))
        return next(found, first)


def _code(line: str, pattern: re.Pattern[str]) -> bool:
    return not line.lstrip().startswith("#") and pattern.search(line) is not None
