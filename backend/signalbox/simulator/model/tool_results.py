"""Parses tool results of any JSON shape."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import orjson

_MAX_DEPTH = 6
_LONGEST_SNIPPET = 1000
# Untrusted content, delimited by tags with one random number; its first line is about the content.
_UNTRUSTED = re.compile(r"<outside-([0-9a-f]{32}) [^>\n]*>\n[^\n]*\n(.*)\n</outside-\1>", re.DOTALL)
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
        """Return the page of the source; sections of one page are one source."""
        return self.url.partition("#")[0] or self.title


@dataclass(frozen=True, slots=True)
class Result:
    """The value of a tool message, or its error."""

    value: Any
    error: str | None

    @property
    def items(self) -> tuple[Item, ...]:
        """Return the sources in the value, in order."""
        return tuple(_items(self.value, 0))

    def field(self, *names: str) -> Any:
        """Return the first field with one of the names, at the top level or one below."""
        return _field(self.value, names, 0)


def read_result(content: str) -> Result:
    """Parse the content of a tool message."""
    delimited = _UNTRUSTED.fullmatch(content.strip())
    value = _json(delimited[2] if delimited else content)
    if not isinstance(value, dict):
        return Result(value, None)
    fields = cast(dict[str, Any], value)
    error = fields.get("error")
    if error or fields.get("success") is False:
        return Result(None, _sentence(error or fields.get("message") or fields.get("code") or "no reason given"))
    return Result(fields.get("result", fields) if fields.get("success") is True else fields, None)


def _json(content: str) -> Any:
    """Parse the content, or the JSON value inside other text; return the text if there is none."""
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
    """Remove Markdown and HTML from a quoted text, so that it does not format the answer."""
    return re.sub(r"[*`#>|]+|<[^>]+>|\[(\d+)\](?!\()", r" \1", text)


def tidy(text: str, limit: int) -> str:
    """Return a text on one line, truncated at a sentence or a word."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    sentence = line.rfind(". ", 40, limit)
    return line[: sentence + 1] if sentence > 0 else line[:limit].rsplit(" ", 1)[0] + " …"
