"""Reading what the tools gave back, whatever shape their JSON has."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import orjson

_MAX_DEPTH = 6
_LONGEST_SNIPPET = 1000
# Between tags of one number: what came from outside, behind one line about it.
_FENCE = re.compile(r"<outside-([0-9a-f]{32}) [^>\n]*>\n[^\n]*\n(.*)\n</outside-\1>", re.DOTALL)
_SNIPPETS = ("snippet", "excerpt", "summary", "description", "content", "text", "body")


@dataclass(frozen=True, slots=True)
class Item:
    """One source in a search result."""

    title: str
    url: str
    snippet: str
    n: int | None

    @property
    def page(self) -> str:
        """Tell which page it is of: two sections of one page are one source."""
        return self.url.partition("#")[0] or self.title


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool message says: a value, or why there is none."""

    value: Any
    error: str | None

    @property
    def items(self) -> tuple[Item, ...]:
        """Return the sources in it, in order."""
        return tuple(_items(self.value, 0))

    def field(self, *names: str) -> Any:
        """Find a value by name, at the top or one level down."""
        return _field(self.value, names, 0)


def read_result(content: str) -> Result:
    """Read the content of a tool message."""
    fence = _FENCE.fullmatch(content.strip())
    value = _json(fence[2] if fence else content)
    if not isinstance(value, dict):
        return Result(value, None)
    said = cast(dict[str, Any], value)
    error = said.get("error")
    if error or said.get("success") is False:
        return Result(None, _sentence(error or said.get("message") or said.get("code") or "no reason given"))
    return Result(said.get("result", said) if said.get("success") is True else said, None)


def _json(content: str) -> Any:
    """Parse the content, or the JSON value that stands in it between other words."""
    start = re.search(r"[{\[]", content)
    for text in (content, content[start.start() : _last_bracket(content) + 1] if start else ""):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            continue
    return content


def _last_bracket(content: str) -> int:
    return max(content.rfind("}"), content.rfind("]"))


def _sentence(error: Any) -> str:
    if isinstance(error, dict):
        fields = cast(dict[str, Any], error)
        return str(fields.get("message") or fields.get("code") or fields)
    return str(error)


def _items(value: Any, depth: int) -> Iterator[Item]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for entry in cast(list[Any], value):
            yield from _items(entry, depth + 1)
    elif isinstance(value, dict):
        fields = cast(dict[str, Any], value)
        if isinstance(fields.get("url"), str) or isinstance(fields.get("title"), str):
            yield _item(fields)
        else:
            for entry in fields.values():
                yield from _items(entry, depth + 1)


def _item(fields: dict[str, Any]) -> Item:
    snippet = next((text for name in _SNIPPETS if isinstance(text := fields.get(name), str) and text.strip()), "")
    number = fields.get("n")
    title = str(fields.get("title") or fields.get("url") or "")
    return Item(
        tidy(unmarked(title), 120),
        str(fields.get("url") or ""),
        tidy(unmarked(snippet), _LONGEST_SNIPPET),
        number if isinstance(number, int) else None,
    )


def _field(value: Any, names: tuple[str, ...], depth: int) -> Any:
    if not isinstance(value, dict) or depth > 1:
        return None
    fields = cast(dict[str, Any], value)
    for name in names:
        if fields.get(name) is not None and not isinstance(fields[name], dict):
            return fields[name]
    return next((found for inner in fields.values() if (found := _field(inner, names, depth + 1)) is not None), None)


def unmarked(text: str) -> str:
    """Drop the markup of a quoted text, which would be read as the answer's own."""
    return re.sub(r"[*`#>|]+|<[^>]+>|\[(\d+)\](?!\()", r" \1", text)


def tidy(text: str, limit: int) -> str:
    """Put a text on one line and cut it at a sentence or a word."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    sentence = line.rfind(". ", 40, limit)
    return line[: sentence + 1] if sentence > 0 else line[:limit].rsplit(" ", 1)[0] + " …"
