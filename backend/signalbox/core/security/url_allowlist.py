"""The URLs that a run may fetch: a page cannot make a model send data to a URL that the model composed (G3)."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from msgspec import Struct

from signalbox.core.messages import JsonObject, JsonValue

# Parameters that name a visit, not a page.
_TRACKING = ("utm_", "fbclid", "gclid", "mc_cid", "mc_eid", "ref_src")


# Longer than any name. urlsplit normalizes the host, and a long row of marks in it takes a quadratic time.
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


_MOST = 5_000  # addresses; the oldest are forgotten
_MOST_COMPOSED = 500
_LONGEST = 2_048
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"\\]+", re.IGNORECASE)
# example.org/page, as people write it; what looks like one by chance only widens what the user has named.
_BARE = re.compile(r"(?<![\w/.@-])(?:[\w-]{1,63}\.){1,6}[a-z]{2,24}(?::\d+)?(?:/[^\s<>\"\\]*)?", re.IGNORECASE)
_LOOSE_CHARACTERS = 20_000
# Where prose goes on behind an address: brackets and quotes around it, and punctuation.
_CLOSERS = re.compile(r"[)\]}'`|*,]|[^\x00-\x7f]")
_PUNCTUATION = ".,;:!?'\")]}*_~"


def links_in(text: str, *, loosely: bool = False) -> Iterator[str]:
    """Yield the addresses in a text; `loosely` also those without https://, as people write them.

    Where an address ends in prose is a guess, so each reading of it is yielded.
    """
    for address in _written_in(text, loosely=loosely):
        yield from _readings(address)


def _written_in(text: str, *, loosely: bool) -> Iterator[str]:
    """Yield what begins like an address, up to where no address goes on."""
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
    """Cut before a closing bracket that was opened outside the address: [a page](https://example.org/a_(b))."""
    depth = 0
    for place, character in enumerate(address):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return address[:place]
    return address


class Said(NamedTuple):
    """A text in which addresses are named; those in `composed` are the model's own, which this only repeats.

    `composed` is None where the model wrote more of them than are looked at: then none here counts as named.
    """

    text: str
    loosely: bool = False
    composed: frozenset[str] | None = frozenset()


def composed_in(name: str, arguments: Mapping[str, JsonValue], asked: str | None) -> frozenset[str] | None:
    """Return the addresses that a model wrote into a call, as its tool's name or in its arguments; None: too many.

    Not the one in the argument `asked`, which the tool opens: that was known before.
    """
    written: JsonObject = {argument: value for argument, value in arguments.items() if argument != asked}
    texts = chain([name], texts_in(written, keys=True))
    addresses = chain.from_iterable(_written_in(text, loosely=True) for text in texts)
    first = [*islice(addresses, _MOST_COMPOSED + 1)]
    if len(first) > _MOST_COMPOSED:
        return None
    return frozenset(canonical_url(url) for address in first for url in _readings(address))


def texts_in(value: JsonValue, *, keys: bool = False) -> Iterator[str]:
    """Yield every string inside a JSON value, in no promised order; also those that are keys, where they count."""
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
    """The addresses that the user and results have named, each in the form in which it was found.

    Before any text from outside is read, a model may ask any address. From then on only these, and in the form in
    which they were found: otherwise a page could have it write what it knows into an address of the page's owner
    (quirk G3). `is_closed` says which of the two holds.

    Texts are looked through when it matters whether an address is known, which is hardly ever: a long conversation
    would keep its model waiting for it.
    """

    is_closed: bool = False
    _closing: bool = False
    _unread: list[Iterable[Said]] = []
    _found: dict[str, str] = {}

    def note(self, text: str, *, loosely: bool = False) -> None:
        """Allow the addresses in a text."""
        self.note_all([Said(text, loosely)])

    def note_all(self, texts: Iterable[Said]) -> None:
        """Allow the addresses in texts; the iterable is consumed later."""
        self._unread.append(texts)

    def note_result(
        self,
        value: JsonValue,
        name: str = "",
        arguments: Mapping[str, JsonValue] | None = None,
        asked: str | None = None,
    ) -> None:
        """Take in a result from outside; the model reads it with its next step.

        Of its call, whose argument `asked` is the address that was opened: a search that repeats its query names no
        address, or whatever a model searches for could be asked.
        """
        self._closing = True
        self.note_all(_said_in(value, name, arguments or {}, asked))

    def begin_step(self) -> None:
        """Note that the model now reads every result there is; calls of one step were written before its results."""
        self.is_closed = self.is_closed or self._closing

    def as_found(self, url: str) -> str | None:
        """Return the address to fetch; None for one that neither results nor the user have named.

        A page of this server itself ("/guide/…") is read from disk, so reading it sends no request.
        """
        if not self.must_know(url):
            return url
        self._read()
        return self._found.get(canonical_url(url))

    def must_know(self, url: str) -> bool:
        """Whether this address is asked only where it was named; finding that out may take long."""
        text = url.strip()
        return self.is_closed and (not text.startswith("/") or text.startswith("//"))

    def _read(self) -> None:
        unread, self._unread = self._unread, []
        # Reading an address takes many times as long as finding one, so only those that may stay are read.
        newest: deque[tuple[str, frozenset[str]]] = deque(maxlen=_MOST)
        for said in chain.from_iterable(unread):
            if (composed := said.composed) is not None:
                newest.extend((address, composed) for address in _written_in(said.text, loosely=said.loosely))
        for address, composed in newest:
            for url in _readings(address):
                if (page := canonical_url(url)) not in composed:
                    self._found.setdefault(page, url)
        for page in [*islice(self._found, max(0, len(self._found) - _MOST))]:
            del self._found[page]


def _said_in(value: JsonValue, name: str, arguments: Mapping[str, JsonValue], asked: str | None) -> Iterator[Said]:
    composed = composed_in(name, arguments, asked)
    for text in texts_in(value):
        yield Said(text, composed=composed)


__all__ = ["Said", "UrlAllowlist", "canonical_url", "composed_in", "links_in", "texts_in"]
