"""Splits documentation files (Markdown, HTML, plain text) into sections at their headings."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import PurePath

MARKDOWN, HTML, TEXT = {".md", ".markdown", ".mdx"}, {".html", ".htm"}, {".txt", ".text", ".rst"}
SUFFIXES = MARKDOWN | HTML | TEXT
# The prefix of code lines in a section's body, which snippets leave out.
CODE = "    "


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text below it; `slug` is the anchor within the page, empty before the first heading."""

    heading: str
    slug: str
    body: str


@dataclass(frozen=True, slots=True)
class Page:
    """A file's title and its sections in order."""

    title: str
    sections: list[Section]


def read_page(path: str, text: str) -> Page:
    """Split a file according to its extension; returns all sections with text."""
    suffix = PurePath(path).suffix.lower()
    name = PurePath(path).stem.replace("-", " ").replace("_", " ")
    if suffix in HTML:
        return _html_page(name, text)
    if suffix in MARKDOWN:
        return _markdown_page(name, text)
    return Page(name, [Section("", "", text.strip())])


def slug(heading: str, taken: dict[str, int]) -> str:
    """Return GitHub's anchor for a heading: lower case, hyphens for spaces, no punctuation, numbered when repeated.

    `taken` maps the anchors so far to their last number, so that a heading repeated thousands of times takes linear
    time.
    """
    base = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
    name, number = base, taken.get(base, 0)
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    taken[base] = number
    taken[name] = taken.get(name, 0)
    return name


def _without_comments(text: str) -> str:
    """Replace each comment with a space; an unclosed comment stays in the text."""
    kept: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept += [text[at:start], " "]
        at = end + 3
    return "".join([*kept, text[at:]])


# --- Markdown ---

_FRONT_MATTER = re.compile(r"\A---\r?\n(.*?)\r?\n---\s*(?:\r?\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)
_HEADING = re.compile(r" {0,3}(#{1,6})(?!\S)(.*)")
_BLOCK_MARK = re.compile(r" {0,3}(`{3,}|~{3,})")
_TAGS = "a|b|br|code|d[dlt]|details|div|em|h[1-6]|hr|i|img|kbd|li|ol|p|pre|span|strong|sub|summary|sup|t[dhr]|table|ul"
_MARKS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*(?:\s+\"[^\"\n]*\")?\)"), r"\1"),
    (re.compile(r"^ {0,3}(?:`{3,}|~{3,}).*$", re.MULTILINE), ""),
    (re.compile(r"\*\*|`"), ""),
    (re.compile(r"^ {0,3}\|.*\n {0,3}\|?[-:| ]{3,}\|?[ \t]*$", re.MULTILINE), ""),
    (re.compile(r"^ {0,3}\|.*$", re.MULTILINE), lambda row: _row(row[0])),
    # Only HTML tags: <json> and <run_id> are part of the text.
    (re.compile(rf"</?(?:{_TAGS})\b[^<>\n]*>"), " "),
)


def _row(line: str) -> str:
    """Return a table row as one sentence: the first cell, then the others."""
    first, *others = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
    rest = "; ".join(cell for cell in others if cell).replace(".; ", ". ")
    sentence = f"{first}: {rest}" if first and rest else first or rest
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def _markdown_page(name: str, text: str) -> Page:
    title = ""
    if front := _FRONT_MATTER.match(text):
        text = text[front.end() :]
        title = found[1] if (found := _FRONT_TITLE.search(front[1])) else ""
    taken: dict[str, int] = {}
    sections: list[Section] = []
    for level, heading, body in _markdown_blocks(text):
        plain = _plain(heading).strip()
        title = title or (plain if level == 1 else "")
        sections.append(Section(plain, slug(plain, taken) if plain else "", _plain(body)))
    return Page(title or name, [section for section in sections if section.heading or section.body])


def _markdown_blocks(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (level, heading, body); ignores # inside code blocks, and indents code by four spaces."""
    level, heading, block_mark = 0, "", ""
    body: list[str] = []
    for line in text.splitlines():
        if mark := _BLOCK_MARK.match(line):
            if not block_mark:
                block_mark = mark[1]
            elif mark[1].startswith(block_mark):
                block_mark = ""
        elif not block_mark and (found := _HEADING.match(line)):
            yield level, heading, "\n".join(body)
            level, heading, body = len(found[1]), _without_closing(found[2].strip()), []
            continue
        body.append(CODE + line if block_mark and not mark else line)
    yield level, heading, "\n".join(body)


def _without_closing(heading: str) -> str:
    """Strip closing # characters of a heading; without a regular expression, which would be quadratic."""
    inner = heading.rstrip("#")
    return inner.rstrip() if not inner or inner[-1].isspace() else heading


def _plain(text: str) -> str:
    text = _without_comments(text)
    for mark, instead in _MARKS:
        text = mark.sub(instead, text)
    return text.rstrip().lstrip("\r\n")


# --- HTML ---


def _html_page(name: str, text: str) -> Page:
    reader = _HtmlReader()
    # Otherwise the end of an unclosed comment would be searched again at each start.
    reader.feed(_without_comments(text).replace("<!--", " "))
    reader.close()
    reader.cut()
    first = next((section.heading for section in reader.sections if section.heading), "")
    title = " ".join(reader.title.split())
    return Page(title or first or name, [one for one in reader.sections if one.heading or one.body])


_SILENT = {"script", "style", "template", "noscript", "svg", "nav", "head"}
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_APART = {"p", "div", "li", "td", "th", "tr", "br", "pre", "section", "article", "dt", "dd", "table", "ul", "ol"}


class _HtmlReader(HTMLParser):
    """Collects visible text, cut at headings; a heading's own id is its anchor."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.sections: list[Section] = []
        self._taken: dict[str, int] = {}
        self._heading, self._anchor, self._body = "", "", ""
        self._silent = 0
        self._within = ""

    def cut(self) -> None:
        """End the current section."""
        heading = " ".join(self._heading.split())
        anchor = self._anchor or (slug(heading, self._taken) if heading else "")
        body = "\n".join(line for raw in self._body.split("\n") if (line := raw.strip()))
        self.sections.append(Section(heading, anchor, body))
        self._heading, self._anchor, self._body = "", "", ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HEADINGS and not self._silent:
            self.cut()
            self._anchor = dict(attrs).get("id") or ""
            self._within = "heading"
        elif tag == "title":
            self._within = "title"
        elif tag in _SILENT:
            self._silent += 1
        elif tag in _APART:
            self._body += "\n"

    def handle_endtag(self, tag: str) -> None:
        if tag in _HEADINGS or tag == "title":
            self._within = ""
        elif tag in _SILENT:
            self._silent = max(0, self._silent - 1)

    def handle_data(self, data: str) -> None:
        if self._within == "title":
            self.title = self.title or data
        elif self._silent:
            return
        elif self._within == "heading":
            self._heading += data
        else:
            self._body += data
