"""Checks the arguments of Upstream. No message contains an argument that may be, or contain, an API key."""

import os
import re
from collections.abc import Mapping
from ipaddress import ip_address
from math import isfinite
from typing import cast
from urllib.parse import urlsplit

from signalbox.core.catalog import Prices
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError

_FROM_ENVIRONMENT = "env:"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EXAMPLE = "http://127.0.0.1:11434/v1"
_HOST = re.compile(r"[A-Za-z0-9_.-]+")


def checked_url(url: object, hosts: Mapping[str, object]) -> str:
    """Return the base URL, or the name of a known server; raises RequestError."""
    if isinstance(url, str) and url in hosts:
        return url
    if not isinstance(url, str) or "://" not in url:
        names = ", ".join(repr(name) for name in sorted(hosts))
        raise _invalid("at", f"expected a base URL with http:// or https://, such as {_EXAMPLE}, or one of {names}")
    if fault := _fault_of(url):
        raise _invalid("at", f"the base URL {fault}")
    return url


def check_path(url: str, endpoint: str) -> None:
    """Raise RequestError for a base URL that ends with the path that the dialect appends."""
    if urlsplit(url).path.rstrip("/").endswith(endpoint):
        raise _invalid("at", f"the base URL ends in {endpoint}, which Signalbox appends: remove it")


def shown_url(url: str) -> str:
    """Return a URL without user name, password, query and fragment."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def checked_model(model: object) -> str:
    """Return the name of a model; raises RequestError."""
    if isinstance(model, str) and model.strip():
        return model
    raise _invalid("model", f"expected the name of a model, such as 'openai/gpt-5-mini', got {model!r:.80}")


def checked_key(key: object, default: str | None) -> str | None:
    """Return the API key, read from the environment if it says so; raises RequestError, without the key."""
    given = default if key is None else key
    if given is None:
        return None
    if not isinstance(given, str):
        raise _invalid("key", f"expected a text or None, got {type(given).__name__}")
    if not given.startswith(_FROM_ENVIRONMENT):
        return _valid_key(given, "the API key")
    name = given.removeprefix(_FROM_ENVIRONMENT)
    if not _VARIABLE.fullmatch(name):  # it may be a key: do not show it
        raise _invalid("key", "expected the name of an environment variable after env:, as in env:ACME_KEY")
    if not (value := os.environ.get(name, "").strip()):
        raise _invalid("key", f"the environment variable {name} is not set")
    return _valid_key(value, f"the environment variable {name}")


def checked_header(field: str, value: object) -> str | None:
    """Return a text that becomes a header; raises RequestError."""
    if value is None or (isinstance(value, str) and value.isprintable()):
        return value
    raise _invalid(field, "expected one line of text, or None")


def checked_seconds(field: str, value: object) -> float:
    """Return a time limit; raises RequestError."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 and isfinite(value):
        return value
    raise _invalid(field, f"expected a number of seconds greater than 0, got {value!r:.80}")


def checked_count(field: str, value: object) -> int:
    """Return a number of things; raises RequestError."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    raise _invalid(field, f"expected an integer of at least 1, got {value!r:.80}")


def checked_prices(prices: object) -> dict[str, Prices]:
    """Return the prices of models per token; raises RequestError."""
    if not isinstance(prices, Mapping):
        raise _invalid("prices", f"expected a dict of models and prices, got {type(prices).__name__}")
    given = cast("Mapping[object, object]", prices)
    return {str(model): _per_token(model, of_model) for model, of_model in given.items()}


def _fault_of(url: str) -> str | None:
    """Return what is wrong with a base URL."""
    if any(one.isspace() or not one.isprintable() for one in url):
        return "contains a space, a line break or a control character: remove it"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "has no valid host and port: expected http://HOST:PORT/PATH, with a port from 1 to 65535"
    if parts.scheme not in ("http", "https"):
        return f"must begin with http:// or https://, as in {_EXAMPLE}"
    if not _is_host(parts.hostname or ""):
        return f"has no valid host: expected http://HOST:PORT/PATH, as in {_EXAMPLE}"
    if port == 0:
        return "has the port 0: expected a port from 1 to 65535"
    if "?" in url or "#" in url:
        return "has a query or a fragment: remove everything from the ? or # on"
    return None


def _is_host(host: str) -> bool:
    try:
        if ":" in host:
            ip_address(host.partition("%")[0])
            return True
        return _HOST.fullmatch(host.encode("idna").decode("ascii")) is not None
    except ValueError:  # also UnicodeError: an empty or too long label
        return False


def _valid_key(key: str, what: str) -> str:
    if not key:
        raise _invalid("key", f"{what} is empty: pass None for a server without keys")
    if not key.isascii() or not key.isprintable() or " " in key:
        words = "contains a space, a line break or a character that is not ASCII: copy the key again, without quotes"
        raise _invalid("key", f"{what} {words} and without 'Bearer'")
    return key


def _per_token(model: object, per_million: object) -> Prices:
    try:
        prompt, completion = cast("tuple[float, float]", per_million)
        if prompt >= 0 and completion >= 0:
            return Prices(prompt / 1_000_000, completion / 1_000_000)
    except (TypeError, ValueError):
        pass  # the error below says what is expected
    words = f"expected a pair of USD per million tokens for {model!r:.80}, got {per_million!r:.80}"
    raise _invalid("prices", words)


def _invalid(field: str, words: str) -> RequestError:
    return RequestError(Code.INVALID_REQUEST, f"{field}: {words}", field)
