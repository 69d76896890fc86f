"""Extracts the readable text of a web page: title, headings, paragraphs, lists, tables, code and links."""

import re
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urljoin

from signalbox.tools.html_tokens import Close, Open, Token, tokens

_MARKS = {f"h{level}": "#" * level + " " for level in range(1, 7)} | {"li": "- ", "blockquote": "> "}


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BLOCKS = _names(
    "address article blockquote body caption center dd details dir div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr html legend li main menu nav ol p pre section summary table tbody tfoot thead tr ul"
)
_NEVER_READ = _names(
    "script style template svg math iframe object noscript noembed noframes canvas audio video textarea select xmp head"
)
_AROUND = _names("nav aside footer button dialog menu")
_VOID = _names("area base br col embed hr img input link meta source track wbr")
# End tags are optional for these, so a start tag of the same name ends a hidden element.
_OPEN_ENDED = _names("p li dt dd tr td th option")
_IN_HEAD = _names("title meta link base style script noscript template head")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_LONGEST_LINK = 500
# Two megabytes of prose have about ten thousand tokens, two megabytes of tags 700,000.
_MOST_TOKENS = 100_000
_ENOUGH = 200  # from this many characters on, the text of <main> or <article> is the text of the page


@dataclass(frozen=True, slots=True)
class PageText:
    """The title and text of a page."""

    title: str
    text: str


def page_text(markup: str, url: str) -> PageText:
    """Return a page's title and text as Markdown; `url` is the base of its links."""
    reader = _parse(markup, url, _NEVER_READ | _AROUND)
    if not reader.text():  # everything is in skipped elements, or in a tag that is never closed
        reader = _parse(markup, url, _NEVER_READ)
    return PageText(" ".join((reader.title or reader.first_heading).split()), reader.text())


def _parse(markup: str, url: str, skipped: frozenset[str]) -> "_Reader":
    reader = _Reader(url, skipped)
    for token in islice(tokens(markup), _MOST_TOKENS):
        reader.add_token(token)
    reader.end_block()
    return reader


class _Reader:
    """Collects blocks of text, without hidden text, which is meant for models (quirk G3)."""

    def __init__(self, url: str, skipped: frozenset[str]) -> None:
        self.title = ""
        self.first_heading = ""
        self._url = url
        self._skipped = skipped
        self._blocks: list[str] = []
        self._core: list[str] = []
        self._line: list[str] = []
        self._has_words = False
        self._prefix = ""
        self._within_core = 0
        self._pre = False
        self._in_title = False
        self._link: tuple[int, str] | None = None
        self._skipping: str = ""
        self._skip_depth = 0

    def text(self) -> str:
        """Return the collected text: the main part if the page marks one, else everything."""
        core = "\n\n".join(self._core)
        whole = core if len(core) >= _ENOUGH else "\n\n".join(self._blocks)
        return re.sub(r"^(- .*)\n\n(?=- )", r"\1\n", whole, flags=re.MULTILINE)

    def add_token(self, token: Token) -> None:
        """Process the next token."""
        if self._in_title:
            self._set_title(token)
        elif self._skipping:
            self._skip(token)
        elif isinstance(token, str):
            self._line.append(token if self._pre else re.sub(r"\s+", " ", token))
            self._has_words = self._has_words or not token.isspace()
        elif isinstance(token, Close):
            self._close(token.name)
        else:
            self._open(token)

    # --- skipped elements ---

    def _set_title(self, token: Token) -> None:
        if isinstance(token, str):
            self.title = self.title or token
        self._in_title = False

    def _skip(self, token: Token) -> None:
        """Skip to the end of a hidden element; the title in the head is still collected."""
        name = "" if isinstance(token, str) else token.name
        if isinstance(token, Open) and name == "title" and self._skipping == "head":
            self._in_title = True
        elif self._skipping == "head" and isinstance(token, Open) and name not in _IN_HEAD:  # </head> is optional
            self._skipping = ""
            self._open(token)
        elif name == self._skipping and isinstance(token, Close):
            self._skip_depth -= 1
        elif name == self._skipping and name in _OPEN_ENDED and isinstance(token, Open):
            self._skipping = ""
            self._open(token)
        elif name == self._skipping:
            self._skip_depth += 1
        if self._skip_depth == 0:
            self._skipping = ""

    def _is_left_out(self, tag: Open) -> bool:
        if tag.name in self._skipped:
            return True
        given = tag.attributes
        if tag.name in _VOID or not given:
            return False
        hidden = "hidden" in given or given.get("aria-hidden") == "true" or _HIDDEN_STYLE.search(given.get("style", ""))
        return bool(hidden) and tag.name not in ("html", "body")

    # --- collected elements ---

    def _open(self, tag: Open) -> None:
        name = tag.name
        if name == "title" and not self.title:
            self._in_title = True
        elif self._is_left_out(tag):
            self._skipping, self._skip_depth = name, 1
        elif name == "br":
            self._line.append("\n")
        elif name in ("td", "th"):
            self._line.append(" | " if self._has_words else "")
        elif name == "a":
            self._link = (len(self._line), tag.attributes.get("href", ""))
        elif name in _BLOCKS:
            self.end_block()
            self._begin(name)

    def _begin(self, name: str) -> None:
        self._within_core += name in ("main", "article")
        self._pre = self._pre or name == "pre"
        self._prefix = _MARKS.get(name, self._prefix)  # <li><p>: the paragraph gets the mark of the item

    def _close(self, name: str) -> None:
        if name == "a":
            self._end_link()
        elif name in _BLOCKS:
            self.end_block()
            self._prefix = "" if name in _MARKS else self._prefix
            self._pre = self._pre and name != "pre"
            self._within_core = max(0, self._within_core - (name in ("main", "article")))

    def _end_link(self) -> None:
        """Format a link as [text](url) if it leads to another page."""
        if self._link is None:
            return
        start, href = self._link
        self._link = None
        words = "".join(self._line[start:]).strip()
        if not words or not href or href.startswith("#") or len(href) > _LONGEST_LINK or self._pre:
            return
        try:
            address = urljoin(self._url, href.strip())
        except ValueError:
            return
        if address.startswith(("https://", "http://")) and not re.search(r"[\s()<>]", address):
            self._line[start:] = [f"[{words}]({address})"]

    def end_block(self) -> None:
        """End the current block."""
        self._end_link()
        text = "".join(self._line)
        prefix, self._line, self._prefix, self._has_words = self._prefix, [], "", False
        if self._pre:
            text = f"```\n{text.strip(chr(10))}\n```" if text.strip() else ""
        else:
            text = "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()
        if not text:
            self._prefix = prefix
            return
        if prefix.startswith("#"):
            text = " ".join(text.split())
            self.first_heading = self.first_heading or text
        self._blocks.append(prefix + text)
        if self._within_core:
            self._core.append(prefix + text)
