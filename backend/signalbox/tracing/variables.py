"""Checks the variables that OpenTelemetry's SDK reads: the SDK ignores an invalid value, or fails without its name."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
TRACES_ENDPOINT = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
HEADERS = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
QUEUE_SIZE, BATCH_SIZE = "OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"
DEFAULT_QUEUE, _DEFAULT_BATCH = 2048, 512
_SAMPLER, _SAMPLER_ARG = "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"
_RATIOS = ("traceidratio", "parentbased_traceidratio")
_SAMPLERS = ("always_on", "always_off", "parentbased_always_on", "parentbased_always_off", *_RATIOS)
_COMPRESSIONS = ("none", "gzip", "deflate")
_LIMITS = (
    *("OTEL_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"),
    *("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_SPAN_EVENT_COUNT_LIMIT", "OTEL_SPAN_LINK_COUNT_LIMIT"),
    *("OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT"),
)
# The names and values that the SDK takes from a variable such as HEADERS; it ignores others.
_HEADER = re.compile(r"[!#-'*+\-.0-9A-Z^-z|~]+[ \t]*=[ !#-+\--:<-\[\]-~]*")


class TracingError(Exception):
    """A variable that cannot be used; the message names it, the reason and what to do."""


def check_variables(variables: Mapping[str, str]) -> None:
    """Raise TracingError for the first invalid value. An empty one counts as not set."""
    _check_exporter(variables)
    _check_sampler(variables)
    _check_batches(variables)
    for name in _LIMITS:
        _check(variables, name, _is_count, "must be a whole number")
    _check(variables, "OTEL_RESOURCE_ATTRIBUTES", _are_pairs, "must be a list such as name=value,name2=value2")


def _check_exporter(variables: Mapping[str, str]) -> None:
    for name in (TRACES_ENDPOINT, ENDPOINT):
        _check(variables, name, _is_url, "must be a URL that begins with http:// or https://", is_secret=True)
    for name in HEADERS:
        _check(
            variables,
            name,
            _are_headers,
            "must be a list such as authorization=Bearer%20KEY,x-team=chat",
            is_secret=True,
        )
    for name in _both("COMPRESSION"):
        _check(variables, name, lambda value: value.lower() in _COMPRESSIONS, f"must be {_any_of(_COMPRESSIONS)}")
    for name in _both("TIMEOUT"):
        _check(variables, name, _is_duration, "must be a number of seconds greater than 0")
    for name in (*_both("CERTIFICATE"), *_both("CLIENT_CERTIFICATE"), *_both("CLIENT_KEY")):
        _check(variables, name, _is_readable, "must be the path of a file that the server can read")


def _both(name: str) -> Iterator[str]:
    """Return the variable of all signals and that of traces."""
    return iter((f"OTEL_EXPORTER_OTLP_{name}", f"OTEL_EXPORTER_OTLP_TRACES_{name}"))


def _check_sampler(variables: Mapping[str, str]) -> None:
    sampler = variables.get(_SAMPLER, "").lower()  # the SDK does not strip it
    _check(variables, _SAMPLER, lambda _: sampler in _SAMPLERS, f"must be {_any_of(_SAMPLERS)}")
    if sampler in _RATIOS:
        _check(variables, _SAMPLER_ARG, _is_share, "must be a number from 0 to 1")


def _check_batches(variables: Mapping[str, str]) -> None:
    for name in (QUEUE_SIZE, BATCH_SIZE, "OTEL_BSP_SCHEDULE_DELAY", "OTEL_BSP_EXPORT_TIMEOUT"):
        _check(variables, name, _is_positive, "must be a whole number of at least 1")
    batch, queue = number(variables, BATCH_SIZE, _DEFAULT_BATCH), number(variables, QUEUE_SIZE, DEFAULT_QUEUE)
    if batch > queue:
        raise TracingError(
            f"{BATCH_SIZE} ({batch}) must not be greater than {QUEUE_SIZE} ({queue}). "
            "Lower the first, or raise the second."
        )


def number(variables: Mapping[str, str], name: str, default: int) -> int:
    """Return a number that was checked."""
    return int(variables.get(name, "").strip() or default)


def _check(
    variables: Mapping[str, str], name: str, is_valid: Callable[[str], bool], rule: str, *, is_secret: bool = False
) -> None:
    value = variables.get(name, "").strip()
    if value and not is_valid(value):
        shown = "" if is_secret or len(value) > 30 or not value.isprintable() else f' is "{value}", but'
        raise TracingError(f"The variable {name}{shown} {rule}. Correct it, or remove it.")


def _any_of(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _is_url(value: str) -> bool:
    try:
        parts = urlsplit(value)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the port is no number
        return False


def _are_headers(value: str) -> bool:
    pairs = [pair.strip() for pair in value.split(",") if pair.strip()]
    return all(_HEADER.fullmatch(pair) and unquote(pair).isascii() and unquote(pair).isprintable() for pair in pairs)


def _are_pairs(value: str) -> bool:
    return all(name.strip() and is_pair for name, is_pair, _ in (one.partition("=") for one in value.split(",")))


def _is_duration(value: str) -> bool:
    seconds = _float(value)
    return math.isfinite(seconds) and seconds > 0


def _is_share(value: str) -> bool:
    return 0 <= _float(value) <= 1


def _is_count(value: str) -> bool:
    return value.isascii() and value.isdecimal()


def _is_positive(value: str) -> bool:
    return _is_count(value) and int(value) > 0


def _is_readable(value: str) -> bool:
    try:
        return Path(value).is_dir() or bool(Path(value).read_bytes())
    except OSError:
        return False


def _float(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return math.nan
