"""Searches a folder of documentation with SQLite's full-text index, without a network or a key."""

import asyncio
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from signalbox.core.tools import SearchHit, SearchQuery, SearchUnavailableError
from signalbox.services.search.docs_index import DocsIndex, Found, scan
from signalbox.services.search.docs_rank import ranked
from signalbox.services.search.docs_snippet import LONGEST, snippet, stems
from signalbox.services.search.setup import SearchSetup

# Where the app serves the files of the folders: /guide/ and /notes/.
_GUIDE, _NOTES = "guide", "notes"

_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
_MOST_WORDS, _LONGEST_WORD, _SHORTEST_BEGINNING = 24, 64, 4
# Sections per hit that the index returns for re-ranking.
_CANDIDATES = 12
# A section must contain all of fewer words than _FEW_WORDS, and this share of more.
_FEW_WORDS, _ENOUGH = 3, 0.6
# Question words that a matching page need not contain.
_QUESTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a about am an and any are as at be been but by can could did do does explain find for from get give had has "
        "have how i if in into is it its me mean means my of on or our please search should show so tell that the "
        "their them then there these they this those to us was we were what when where which who whose why will with "
        "would you your",
    )
)


class DocsSearch:
    """A SearchBackend over the Markdown, text and HTML files of a folder and of the notes folder.

    The index is created by `prepare` or the first search. Searches update it at most every `rescan_after` seconds.
    `published` is the modification date of a file. `own`: the folder has this project's documentation, so sections with
    too few of the search terms are omitted.
    """

    name = "docs"
    paid = False

    def __init__(
        self,
        folder: Path,
        database: Path | None = None,
        *,
        own: bool = False,
        notes: Path | None = None,
        rescan_after: float = 2.0,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        self._folders = {_GUIDE: folder.resolve()}
        # Notes inside the folder are indexed with it.
        if notes is not None and not notes.resolve().is_relative_to(folder.resolve()):
            self._folders[_NOTES] = notes.resolve()
        self._own = own
        self._rescan_after = rescan_after
        self._today = today
        self._lock = threading.Lock()
        self._index = DocsIndex(self._folders, database)
        self._scanned = float("-inf")
        self.about = self._describe({place: len(scan(folder)) for place, folder in self._folders.items()})

    def _describe(self, pages: Mapping[str, int]) -> str:
        count = f"{pages[_GUIDE]:,} page{'' if pages[_GUIDE] == 1 else 's'}"
        name = self._folders[_GUIDE].name
        where = (
            "Signalbox's own documentation" if self._own else f"the Markdown, text and HTML files of the folder {name}"
        )
        return f"{where} ({count})" + (f" and the saved notes ({notes:,})" if (notes := pages.get(_NOTES)) else "")

    async def prepare(self) -> None:
        """Update the index, so that the first search does not have to."""
        await asyncio.to_thread(self._locked_refresh)

    async def search(self, query: SearchQuery) -> list[SearchHit]:
        """Return at most `query.limit` pages, best first, each with a snippet."""
        return await asyncio.to_thread(self._search, query)

    def changed(self) -> None:
        """Make the next search check the folders for changes."""
        self._scanned = float("-inf")

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._index.close()

    def _locked_refresh(self) -> None:
        with self._lock:
            self._refresh()

    def _refresh(self) -> None:
        if time.monotonic() - self._scanned < self._rescan_after:
            return
        self._scanned = time.monotonic()  # set before the scan, so that later changes are found next time
        try:
            self.about = self._describe(self._index.refresh())
        except BaseException:
            self.changed()
            raise

    def _search(self, query: SearchQuery) -> list[SearchHit]:
        after, before = self._dates(query)
        with self._lock:
            self._refresh()
            words = stems(" ".join(_words(query.text)))
            for expression in match_expressions(query.text):
                found = self._index.find(expression, after, before, most=query.limit * _CANDIDATES)
                if self._own:  # without a web search, questions about anything reach the documentation
                    found = [one for one in found if _is_about(one, words)]
                if found:
                    return _by_page(ranked(found, words, _QUESTION_WORDS), words)[: query.limit]
        return []

    def _dates(self, query: SearchQuery) -> tuple[str, str]:
        after = query.after or ""
        if query.time_hint:
            after = max(after, (self._today() - timedelta(days=_DAYS[query.time_hint])).isoformat())
        return after, query.before or "9999"


def match_expressions(text: str) -> list[str]:
    """Return FTS5 queries for a text, strictest first: all words, any word, any beginning of a word.

    Every word is quoted, so nothing in the text is FTS5 syntax. A phrase in quotes stays a phrase.
    """
    words = _words(text)
    if not words:
        return []
    quoted = [f'"{word}"' for word in words]
    # The prefix of a short word would match unrelated words.
    beginnings = [f'"{word}" *' for word in words if len(word) >= _SHORTEST_BEGINNING]
    expressions = [" AND ".join(quoted), " OR ".join(quoted), " OR ".join(beginnings)]
    return [expression for expression in expressions if expression]


def _words(text: str) -> list[str]:
    """Return the search terms: those that are not question words, else all."""
    plain = unicodedata.normalize("NFKC", text).replace("“", '"').replace("”", '"').replace("\0", " ")
    phrases = [phrase or word for phrase, word in re.findall(r'"([^"]+)"|([^\s"]+)', plain)]
    words = [word[:_LONGEST_WORD] for phrase in phrases if (word := _searchable(phrase))]
    return list(dict.fromkeys([word for word in words if word.lower() not in _QUESTION_WORDS] or words))[:_MOST_WORDS]


def _searchable(phrase: str) -> str:
    """Return a phrase without surrounding punctuation; empty if it has no letter or digit."""
    return re.sub(r"^\W+|\W+$", "", phrase.replace("'s", ""))


def _is_about(one: Found, words: set[str]) -> bool:
    """Return whether a section contains enough of the terms: both of two, most of more."""
    held = stems(f"{one.path} {one.title} {one.heading} {one.body}") & words
    return len(held) >= (len(words) if len(words) < _FEW_WORDS else _ENOUGH * len(words))


def _by_page(found: list[Found], words: set[str]) -> list[SearchHit]:
    """Combine the sections of a page into one hit that links to the best section."""
    pages: dict[str, list[Found]] = {}
    for one in found:
        pages.setdefault(one.path, []).append(one)
    return [_hit(sections, words) for sections in pages.values()]


def _hit(sections: list[Found], words: set[str]) -> SearchHit:
    best = sections[0]
    title = best.title if best.heading in ("", best.title) else f"{best.title} › {best.heading}"
    url = "/" + quote(best.path) + (f"#{quote(best.slug)}" if best.slug else "")
    text = snippet(best.body, words - stems(best.heading))
    if len(sections) > 1 and (more := snippet(sections[1].body, words - stems(sections[1].heading), LONGEST // 2)):
        text += f" … [{sections[1].heading or sections[1].title}] {more}"
    return SearchHit(title, url, text, best.published)


def from_setup(setup: SearchSetup) -> DocsSearch:
    """Return the backend; raises SearchUnavailableError."""
    folder = setup.docs_folder
    if not folder.is_dir():
        reason = f"the folder to search ({folder.name}) does not exist; set SIGNALBOX_DOCS to one that does"
        raise SearchUnavailableError(reason)
    return DocsSearch(folder, setup.database, own=setup.own_docs, notes=setup.notes)
