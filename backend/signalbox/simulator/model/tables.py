"""Writes sources as a Markdown table: a column per source if they state the same facts, else a row."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .relevance import quote
from .tool_results import Item

_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_LONGEST_LABEL = 30


@dataclass(frozen=True, slots=True)
class Column:
    """A source and its name in the table."""

    name: str
    item: Item


def table(columns: Sequence[Column]) -> str:
    """Return a table of the sources; facts that all of them state, such as "Day trip: Sintra.", become rows."""
    facts = [_facts(column.item) for column in columns]
    labels = [label for label in (facts[0] if facts else {}) if all(label in one for one in facts)]
    if len(labels) < 2:
        return _rows(["Source", "What it says"], [[_cited(one), quote(one.item.snippet, 240)] for one in columns])
    body = [[label, *(one[label] for one in facts)] for label in labels]
    return _rows(["", *(column.name for column in columns)], [*body, ["Source", *map(_cited, columns)]])


def names(queries: Sequence[str]) -> list[str]:
    """Return the words of each query that the others lack: Lisbon and Porto for "Lisbon trip" and "Porto trip"."""
    common = {word for word in queries[0].lower().split() if all(word in other.lower().split() for other in queries)}
    short = [" ".join(word for word in query.split() if word.lower() not in common) for query in queries]
    return [name or query for name, query in zip(short, queries, strict=True)]


def _facts(item: Item) -> dict[str, str]:
    """Return the sentences that begin with a label and a colon, by label."""
    found: dict[str, str] = {}
    for sentence in _SENTENCES.split(item.snippet):
        label, colon, value = sentence.partition(": ")
        if colon and label[:1].isupper() and len(label) <= _LONGEST_LABEL and "." not in label:
            found.setdefault(label, value.rstrip(" ."))
    return found


def _cited(column: Column) -> str:
    mark = f" [{column.item.n}]" if column.item.n is not None else ""
    return f"{column.item.title}{mark}"


def _rows(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(value.replace("|", "/") for value in line) + " |" for line in lines)
