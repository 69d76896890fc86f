"""Writes search results as quotes, a table or a numbered list, with `[n]` for sources."""

from dataclasses import dataclass

from .forms import wants_list, wants_table
from .plan import Exchange, first_argument
from .relevance import content_stems, is_about, quote, sentences, shared
from .tables import Column, names, table
from .tool_results import Item, tidy


@dataclass(frozen=True, slots=True)
class Search:
    """A search and those of its results that are about its query."""

    exchange: Exchange
    query: str
    words: set[str]
    about: list[Item]


def found(searches: list[Exchange], question: str) -> str:
    """Return the search results, each source once with its number, or say that nothing was found."""
    read = read_searches(searches)
    shown: set[str] = set()
    sections = _formed(read, question) or [_section(one, shown, several=len(read) > 1) for one in read]
    notices = dict.fromkeys(str(exchange.result.field("notice") or "") for exchange in searches)
    return "\n\n".join(section for section in (*sections, *notices) if section)


def read_searches(searches: list[Exchange]) -> list[Search]:
    """Select the results about each query; a search that only retried with fewer words is left out."""
    every_item = [item for exchange in searches for item in exchange.result.items]
    read: list[Search] = []
    for exchange in searches:
        query = first_argument(exchange)
        words = content_stems(query)
        held = {word for item in every_item for word in shared(words, _quoted(item))}
        about = [item for item in exchange.result.items if shared(words, _quoted(item)) or not words]
        about = about if is_about(words, held) else []
        if about and read and words < read[-1].words and not read[-1].exchange.result.items:
            read.pop()
        elif not about and any(words <= other.words for other in read) and not exchange.result.error:
            continue
        read.append(Search(exchange, query, words, about))
    return read


def _formed(read: list[Search], question: str) -> list[str]:
    """Return the results as the table or list that the question asks for, or nothing if results are missing."""
    if not all(one.about for one in read):
        return []
    if wants_table(question):
        asked = names([one.query for one in read])
        columns = [Column(name, _best(one, name)) for name, one in zip(asked, read, strict=True)]
        if len(columns) == 1:
            columns = [Column(item.title, item) for item in read[0].about[:3]]
        return [f"Here is what I found about **{' and '.join(asked)}**:", table(columns)]
    if wants_list(question):
        return [_numbered(one) for one in read]
    return []


def _best(search: Search, name: str) -> Item:
    """Return the first source whose title contains the name, else the first source."""
    words = content_stems(name)
    return next((item for item in search.about if shared(words, item.title) == words), search.about[0])


def _numbered(search: Search) -> str:
    """Return a numbered list of the best source's sentences, or of one quote per source if it has only one."""
    best = search.about[0]
    quoted = [(sentence, best) for sentence in sentences(best.snippet)]
    if len(quoted) < 2:
        quoted = [(quote(item.snippet, 200), item) for item in search.about]
    items = "\n".join(f"{number}. {text}{_mark(item)}" for number, (text, item) in enumerate(quoted[:8], 1))
    return f"Here is what I found about **{search.query}**:\n\n{items}"


def _quoted(item: Item) -> str:
    return f"{item.title} {item.snippet}"


def _section(search: Search, shown: set[str], *, several: bool) -> str:
    if search.exchange.result.error:
        named = f"The search for “{search.query}”" if search.query else "The search"
        return f"{named} failed: {tidy(search.exchange.result.error, 200)}"
    if not search.about:
        return _nothing(search)
    items = [item for item in search.about if (item.url or item.title) not in shown]
    if not items:
        return ""
    shown.update(item.url or item.title for item in items)
    lead = f"**{search.query}**" if several else f"Here is what I found about **{search.query}**:"
    return lead + "\n\n" + "\n".join(_bullet(item) for item in items[:5])


def _nothing(search: Search) -> str:
    """Say that nothing was found; unrelated results are named but not quoted."""
    result = search.exchange.result
    if isinstance(result.value, str) and result.value.strip():
        return f"The search for “{search.query}” returned: {tidy(result.value, 600)}"
    where = "This server's documents have nothing" if result.field("searched") == "docs" else "The search found nothing"
    sentence = f"{where} on **{search.query}**." if search.query else f"{where} on that."
    if not result.items:
        return sentence
    nearest = "\n".join(f"- {item.title}{_mark(item)}" for item in result.items[:3])
    return f"{sentence} The closest results are about other things:\n\n{nearest}"


def _bullet(item: Item) -> str:
    return f"- **{item.title}**" + (f": {quote(item.snippet, 360)}" if item.snippet else "") + _mark(item)


def _mark(item: Item) -> str:
    return f" [{item.n}]" if item.n is not None else (f" ({item.url})" if item.url else "")
