"""The pages of docs/ for tests: headings, links, code blocks, tables."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from signalbox.services.search.pages import slug

from tests.conftest import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`\n]+)`")


class Heading(NamedTuple):
    """A heading and the text up to the next heading."""

    level: int
    text: str
    body: str


@dataclass(frozen=True)
class Page:
    """One page."""

    path: Path
    text: str

    @property
    def prose(self) -> str:
        """Return the text without code blocks."""
        return _BLOCK.sub("", self.text)

    @property
    def headings(self) -> list[Heading]:
        found = list(_HEADING.finditer(self.prose))
        ends = [match.start() for match in found[1:]] + [len(self.prose)]
        return [
            Heading(len(match[1]), match[2], self.prose[match.end() : end].strip())
            for match, end in zip(found, ends, strict=True)
        ]

    @property
    def anchors(self) -> set[str]:
        taken: dict[str, int] = {}
        return {slug(heading.text.replace("`", ""), taken) for heading in self.headings}

    @property
    def links(self) -> list[str]:
        return _LINK.findall(self.prose)

    def section(self, heading: str) -> str:
        """Return the text below a heading, including code blocks."""
        start = self.text.index(f"# {heading}\n")
        rest = self.text[start:].partition("\n")[2]
        end = re.search(r"^#{1,6} ", _BLOCK.sub(lambda match: "x" * len(match[0]), rest), re.MULTILINE)
        return rest[: end.start()] if end else rest

    def blocks(self, language: str) -> list[str]:
        """Return the code blocks of a language."""
        return [body for kind, body in _BLOCK.findall(self.text) if kind == language]


def page(name: str) -> Page:
    """Read a page by its path in docs/."""
    return _read(DOCS / name)


def pages() -> list[Page]:
    """Read all pages."""
    return [_read(path) for path in PAGES]


def _read(path: Path) -> Page:
    return Page(path, path.read_text(encoding="utf-8"))


def codes_in(text: str) -> set[str]:
    """Return the texts in backticks."""
    return set(_CODE.findall(text))


def rows(text: str) -> Iterator[list[str]]:
    """Yield the cells of each table row, without header rows and separators."""
    lines = text.splitlines()
    for place, line in enumerate(lines):
        is_head = place + 1 < len(lines) and set(lines[place + 1]) <= set("|-: ") and "-" in lines[place + 1]
        if line.startswith("|") and not is_head and not set(line) <= set("|-: "):
            yield [cell.strip() for cell in line.strip("|").split("|")]
