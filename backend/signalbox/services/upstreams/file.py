"""Reads upstreams.toml: the upstreams, and the routes that say which of them serve a model."""

import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from signalbox.core.catalog import Prices
from signalbox.services.toml_lines import TomlLines
from signalbox.services.upstreams.credentials import credentials_in
from signalbox.services.upstreams.keys import KeyFault, Variable, open_file, read_key
from signalbox.wire.dialects import DIALECTS

_LARGEST_FILE = 256 * 1024
# A key is never written into the file, which may be committed or shown.
_KEY_SOURCES = ("env:", "file:")
_CONVERSION = re.compile(r"(?P<fault>.*?)(?: - at `\$(?P<path>.*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_TYPES = {"str": "text", "float": "number", "int": "number", "array": "list", "object": "table", "bool": "boolean"}
# The HTTP client sets these; a second value makes a request ambiguous.
_FRAMING_HEADERS = {"connection", "content-length", "expect", "transfer-encoding", "upgrade"}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=3600)]
Price: TypeAlias = Annotated[float, Meta(ge=0)]
Pattern: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]


class PriceEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """USD per million tokens. Without a price for cached tokens, they cost as much as other tokens of the prompt."""

    prompt: Price
    completion: Price
    cached: Price | None = None
    cache_written: Price | None = None

    @property
    def per_token(self) -> Prices:
        """The prices per token."""
        return Prices(
            self.prompt / 1_000_000,
            self.completion / 1_000_000,
            None if self.cached is None else self.cached / 1_000_000,
            None if self.cache_written is None else self.cache_written / 1_000_000,
        )


class UpstreamEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """One `[[upstream]]`.

    `key` is `env:NAME` or `file:PATH`. `models` are patterns of the ids that clients use (`anthropic/*`). `rename` maps
    such an id, or a pattern with one `*` at its end, to the id that the upstream uses. `listed` are the models of the
    upstream, by its own ids, if it has no endpoint that lists them. Timeouts are in seconds.
    """

    name: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$")]
    dialect: str
    base_url: str
    key: str | None = None
    models: tuple[Pattern, ...] = ("*",)
    rename: dict[str, str] = {}
    headers: dict[str, str] = {}
    prices: dict[str, PriceEntry] = {}
    listed: tuple[str, ...] | None = None
    timeout: Seconds | None = None
    progress_timeout: Seconds | None = None
    connect_timeout: Seconds | None = None
    proxy: str | None = None

    def serves(self, model: str) -> bool:
        """Return whether a pattern matches a model."""
        return any(fnmatchcase(model, pattern) for pattern in self.models)

    def name_of(self, model: str) -> str:
        """Return the id that the upstream uses for a model."""
        if model in self.rename:
            return self.rename[model]
        for pattern, name in self.rename.items():
            if pattern.endswith("*") and model.startswith(pattern[:-1]):
                return name.replace("*", model[len(pattern) - 1 :])
        return model

    def models_of(self, name: str) -> list[str]:
        """Return the ids by which clients can request the model that the upstream calls `name`."""
        found = [model for model in self.rename if not model.endswith("*")]
        for pattern, new in self.rename.items():
            before, star, after = new.partition("*")
            if pattern.endswith("*") and star and name.startswith(before) and name.endswith(after):
                found.append(pattern[:-1] + name[len(before) : len(name) - len(after)])
        return [model for model in dict.fromkeys([*found, name]) if self.serves(model) and self.name_of(model) == name]

    def prices_of(self, model: str) -> Prices | None:
        """Return the prices of a model, by the id that clients use or by the one that the upstream uses."""
        price = self.prices.get(model) or self.prices.get(self.name_of(model))
        return price.per_token if price else None


class RouteEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """One `[[route]]`: the upstreams that serve the models of a pattern, in the order of fallback."""

    models: Pattern
    use: Annotated[tuple[str, ...], Meta(min_length=1)]


class UpstreamsFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    upstream: Annotated[tuple[UpstreamEntry, ...], Meta(min_length=1)]
    route: tuple[RouteEntry, ...] = ()

    def named(self, name: str) -> UpstreamEntry | None:
        """Return the upstream with a name."""
        return next((entry for entry in self.upstream if entry.name == name), None)


class UpstreamsFileError(ValueError):
    """The file cannot be used; the message names the line and what to do."""


class LoadedUpstreams(Struct, frozen=True):
    """The file, and the API key of each upstream that has one, by its name."""

    file: UpstreamsFile
    keys: dict[str, str]

    @property
    def secrets(self) -> list[str]:
        """The keys, and the credentials in headers; none may appear in a log."""
        return [*self.keys.values(), *(one for entry in self.file.upstream for one in credentials_in(entry.headers))]

    def __repr__(self) -> str:
        """Show no key."""
        return f"LoadedUpstreams({self.file!r})"


def load_upstreams(path: Path, variable: Variable) -> LoadedUpstreams:
    """Read the file and the keys that it names; raises UpstreamsFileError."""
    file, lines = _checked(_content_of(path), path.name)
    keys: dict[str, str] = {}
    for place, entry in enumerate(file.upstream):
        if entry.key is None:
            continue
        try:
            keys[entry.name] = read_key(entry.key, variable, path.parent)
        except KeyFault as fault:
            raise lines.error(f".upstream[{place}].key", str(fault)) from None
    return LoadedUpstreams(file, keys)


def read_upstreams(path: Path) -> UpstreamsFile:
    """Read and check the file; raises UpstreamsFileError."""
    return parse_upstreams(_content_of(path), path.name)


def parse_upstreams(data: bytes, name: str) -> UpstreamsFile:
    """Check the text of the file; raises UpstreamsFileError."""
    return _checked(data, name)[0]


def _content_of(path: Path) -> bytes:
    try:
        with open_file(path) as file:
            data = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise UpstreamsFileError(f"{path.name} cannot be read: {error.strerror}.") from None
    if len(data) > _LARGEST_FILE:
        raise UpstreamsFileError(f"{path.name} is larger than {_LARGEST_FILE // 1024} KiB.")
    return data


def _checked(data: bytes, name: str) -> "tuple[UpstreamsFile, _Lines]":
    try:
        text = data.decode("utf-8-sig")  # some editors begin a file with a byte order mark
    except UnicodeDecodeError:
        raise UpstreamsFileError(f"{name} is not UTF-8.") from None
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UpstreamsFileError(f"{name} is not TOML: {error}.") from None
    lines = _Lines(text, name)
    try:
        file = msgspec.convert(value, UpstreamsFile)
    except msgspec.ValidationError as error:
        raise lines.error_of(str(error)) from None
    for path, words in _faults(file):
        raise lines.error(path, words)
    return file, lines


# --- rules between fields ---------------------------------------------------------------------------------------------


def _faults(file: UpstreamsFile) -> Iterator[tuple[str, str]]:
    """Yield the path of each invalid field, and what is wrong with it."""
    names: set[str] = set()
    for place, entry in enumerate(file.upstream):
        if entry.name in names:
            yield f".upstream[{place}].name", f"two upstreams have the name {entry.name!r}; give each its own name"
        names.add(entry.name)
        for field, words in _faults_of(entry):
            yield f".upstream[{place}].{field}", words
    for place, route in enumerate(file.route):
        for name in route.use:
            if file.named(name) is None:
                known = ", ".join(entry.name for entry in file.upstream)
                yield f".route[{place}].use", f"there is no upstream {name[:40]!r}; there are {known}"
        if len({*route.use}) < len(route.use):
            yield f".route[{place}].use", "use contains an upstream twice"


def _faults_of(entry: UpstreamEntry) -> Iterator[tuple[str, str]]:
    if entry.dialect not in DIALECTS:
        yield "dialect", f"there is no dialect {entry.dialect[:40]!r}; there are {', '.join(DIALECTS)}"
    for field, url in (("base_url", entry.base_url), ("proxy", entry.proxy)):
        if url is not None and not _is_url(url):
            yield field, f"{field} must be a URL that begins with http:// or https://, without a query"
        elif field == "base_url" and "@" in urlsplit(entry.base_url).netloc:
            yield field, "base_url must not contain credentials, because it is shown; use key or headers instead"
    if entry.key is not None and not entry.key.startswith(_KEY_SOURCES):
        yield "key", "key must be env:NAME or file:PATH; do not write the key itself into this file"
    for header, text in entry.headers.items():
        if not _HEADER_NAME.fullmatch(header) or not text.isprintable() or not text.isascii():
            yield "headers", f"the header {header[:40]!r} must be a name with one line of printable ASCII"
        elif header.lower() in _FRAMING_HEADERS:
            yield "headers", f"Signalbox sets the header {header!r} for each request; remove it"
    yield from _unprintable_ids(entry)
    for pattern, new in entry.rename.items():
        if "*" in pattern[:-1] or ("*" in new and not pattern.endswith("*")) or not new:
            yield "rename", f"{pattern[:40]!r}: only the last character may be *, and the new id must not be empty"


def _unprintable_ids(entry: UpstreamEntry) -> Iterator[tuple[str, str]]:
    """Control characters in a model's id would reach logs and terminals."""
    ids = {"models": entry.models, "listed": entry.listed or (), "rename": [*entry.rename, *entry.rename.values()]}
    for field, names in ids.items():
        for name in names:
            if not name.isprintable():
                yield field, f"{name[:40]!r} contains a character that cannot be shown; remove it"


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query and not parts.fragment


# --- lines ------------------------------------------------------------------------------------------------------------


class _Lines:
    """Makes errors that name the line of a field."""

    def __init__(self, text: str, name: str) -> None:
        self._lines = TomlLines(text)
        self._name = name

    def error_of(self, message: str) -> UpstreamsFileError:
        """Return the error for msgspec's message: "Expected `str`, got `int` - at `$.upstream[0].name`"."""
        found = _CONVERSION.fullmatch(message)
        assert found is not None  # the expression matches every text
        fault, path = found["fault"], found["path"] or ""
        if path in (".upstream", ".route"):
            return self.error(path, f"write [[{path[1:]}]], in double brackets")
        if fault.startswith("Object "):
            unknown = _UNKNOWN.fullmatch(fault)
            words = fault.replace("`", "'").removeprefix("Object ")
            return self.error(f"{path}.{unknown[1]}" if unknown else path, words)
        field = re.sub(r"^\.\w+\[\d+\]\.", "", path)
        words = re.sub(r"`([a-z]+)(?: \| null)?`", lambda name: _TYPES.get(name[1], name[1]), fault)
        return self.error(path, f"{field}: {words[:1].lower()}{words[1:]}")

    def error(self, path: str, words: str) -> UpstreamsFileError:
        """Return the error for a field."""
        return UpstreamsFileError(f"{self._name}, line {self._lines.line_of(_parts_of(path))}: {words}.")


def _parts_of(path: str) -> list[str | int]:
    """Split `.upstream[1].name` into names and numbers."""
    return [name or int(number) for name, number in re.findall(r"\.([\w-]+)|\[(\d+)\]", path)]
