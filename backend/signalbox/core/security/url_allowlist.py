"""The URLs that a run may fetch: a page cannot make a model send data to a URL that the model composed (G3)."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from msgspec import Struct

from signalbox.core.messages import JsonObject, JsonValue

# Query parameters that track visits and do not identify a page.
_TRACKING = ("utm_", "fbclid", "gclid", "mc_cid", "mc_eid", "ref_src")


# Longer than any host name. urlsplit normalizes the host, which takes quadratic time for many combining marks.
_LONG_HOST = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^/?#]{300}")


def canonical_url(url: str) -> str:
    """Reduce a URL to what identifies the page: no fragment, no tracking, host in lower case, no trailing slash."""
    url = url.strip()
    if _LONG_HOST.match(url):
        return url
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return url
    host = (parts.hostname or "").removeprefix("www.")
    if port and (parts.scheme, port) not in (("http", 80), ("https", 443)):
        host = f"{host}:{port}"
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = urlencode([(name, value) for name, value in pairs if not name.startswith(_TRACKING)])
    scheme = "https" if parts.scheme == "http" else parts.scheme
    return urlunsplit((scheme, host, parts.path.rstrip("/"), query, ""))


_MOST = 5_000  # URLs; the oldest are dropped
_MOST_COMPOSED = 500
_LONGEST = 2_048
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"\\]+", re.IGNORECASE)
# example.org/page, as users write it; a false match only adds a URL that the user has written.
_BARE = re.compile(r"(?<![\w/.@-])(?:[\w-]{1,63}\.){1,6}[a-z]{2,24}(?::\d+)?(?:/[^\s<>\"\\]*)?", re.IGNORECASE)
_LOOSE_CHARACTERS = 20_000
# Where prose may continue after a URL: brackets, quotes and punctuation.
_CLOSERS = re.compile(r"[)\]}'`|*,]|[^\x00-\x7f]")
_PUNCTUATION = ".,;:!?'\")]}*_~"


def links_in(text: str, *, loosely: bool = False) -> Iterator[str]:
    """Yield the URLs in a text; `loosely` also those without https://.

    Where a URL ends in prose is ambiguous, so every reading is yielded.
    """
    for address in _written_in(text, loosely=loosely):
        yield from _readings(address)


def _written_in(text: str, *, loosely: bool) -> Iterator[str]:
    """Yield the texts that start like a URL, each up to the last character that may belong to it."""
    for match in _URL.finditer(text):
        yield match[0][:_LONGEST]
    if loosely:
        for match in _BARE.finditer(text, 0, _LOOSE_CHARACTERS):
            yield match[0][:_LONGEST]


def _readings(address: str) -> Iterator[str]:
    whole = address[:_LONGEST]
    if not whole.lower().startswith(("http://", "https://")):
        whole = f"https://{whole}"
    cut = _CLOSERS.split(whole, maxsplit=1)[0]
    yield from dict.fromkeys((whole, whole.rstrip(_PUNCTUATION), _balanced(whole), cut, cut.rstrip(_PUNCTUATION)))


def _balanced(address: str) -> str:
    """Cut before a closing bracket that was opened outside the URL: [a page](https://example.org/a_(b))."""
    depth = 0
    for place, character in enumerate(address):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return address[:place]
    return address


class UrlSource(NamedTuple):
    """A text whose URLs may be allowed, except those in `composed`, which the model wrote and the text only repeats.

    `composed` is None if the model wrote too many URLs to check; then no URL of the text is allowed.
    """

    text: str
    loosely: bool = False
    composed: frozenset[str] | None = frozenset()


def composed_in(name: str, arguments: Mapping[str, JsonValue], url_argument: str | None) -> frozenset[str] | None:
    """Return the URLs that a model wrote into a call's name or arguments, None if there are too many.

    `url_argument` is left out: its URL, which the tool opens, was already allowed.
    """
    written: JsonObject = {argument: value for argument, value in arguments.items() if argument != url_argument}
    texts = chain([name], texts_in(written, keys=True))
    addresses = chain.from_iterable(_written_in(text, loosely=True) for text in texts)
    first = [*islice(addresses, _MOST_COMPOSED + 1)]
    if len(first) > _MOST_COMPOSED:
        return None
    return frozenset(canonical_url(url) for address in first for url in _readings(address))


def texts_in(value: JsonValue, *, keys: bool = False) -> Iterator[str]:
    """Yield every string inside a JSON value in any order; with `keys`, also object keys."""
    left = [value]
    while left:
        match left.pop():
            case str() as text:
                yield text
            case list() as items:
                left.extend(items)
            case dict() as fields:
                left.extend(fields.values())
                if keys:
                    yield from fields
            case _:
                pass


class UrlAllowlist(Struct):
    """The URLs in the user's messages and in tool results, each in the form in which it was found.

    Until the model reads untrusted text, it may fetch any URL. After that it may fetch only these, and only in the form
    in which they were found; otherwise a page could make it send data inside a URL of an attacker (quirk G3).
    `is_closed` is whether the restriction applies.

    Texts are parsed only when a URL is checked, which is rare: parsing a long conversation would delay every run.
    """

    is_closed: bool = False
    _closing: bool = False
    _unread: list[Iterable[UrlSource]] = []
    _found: dict[str, str] = {}

    def allow_text(self, text: str, *, loosely: bool = False) -> None:
        """Allow the URLs in a text."""
        self.allow_texts([UrlSource(text, loosely)])

    def allow_texts(self, texts: Iterable[UrlSource]) -> None:
        """Allow the URLs in texts; the iterable is consumed later."""
        self._unread.append(texts)

    def add_result(
        self,
        value: JsonValue,
        name: str = "",
        arguments: Mapping[str, JsonValue] | None = None,
        url_argument: str | None = None,
    ) -> None:
        """Add an untrusted result, which the model reads in its next step, and allow its URLs.

        URLs that the model wrote into the call are not allowed: otherwise a search result that repeats the query would
        allow any URL. `url_argument` names the argument with the URL that the tool opened.
        """
        self._closing = True
        self.allow_texts(_sources_in(value, name, arguments or {}, url_argument))

    def begin_step(self) -> None:
        """Start a step: the model now reads all results so far. Calls of a step are written before its results."""
        self.is_closed = self.is_closed or self._closing

    def as_found(self, url: str) -> str | None:
        """Return the form in which a URL may be fetched, None if it is not allowed.

        Pages of this server ("/guide/…") are always allowed: they are read from disk, without a request.
        """
        if not self.requires_known(url):
            return url
        self._parse_pending()
        return self._found.get(canonical_url(url))

    def requires_known(self, url: str) -> bool:
        """Return whether this URL must be on the allowlist; checking that may take long."""
        text = url.strip()
        return self.is_closed and (not text.startswith("/") or text.startswith("//"))

    def _parse_pending(self) -> None:
        unread, self._unread = self._unread, []
        # Parsing a URL takes many times as long as finding one, so only the newest are parsed.
        newest: deque[tuple[str, frozenset[str]]] = deque(maxlen=_MOST)
        for source in chain.from_iterable(unread):
            if (composed := source.composed) is not None:
                newest.extend((address, composed) for address in _written_in(source.text, loosely=source.loosely))
        for address, composed in newest:
            for url in _readings(address):
                if (page := canonical_url(url)) not in composed:
                    self._found.setdefault(page, url)
        for page in [*islice(self._found, max(0, len(self._found) - _MOST))]:
            del self._found[page]


def _sources_in(
    value: JsonValue, name: str, arguments: Mapping[str, JsonValue], url_argument: str | None
) -> Iterator[UrlSource]:
    composed = composed_in(name, arguments, url_argument)
    for text in texts_in(value):
        yield UrlSource(text, composed=composed)


__all__ = ["UrlAllowlist", "UrlSource", "canonical_url", "composed_in", "links_in", "texts_in"]
