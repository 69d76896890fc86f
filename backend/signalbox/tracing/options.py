"""The options of traces, from OpenTelemetry's environment variables. Imports nothing of OpenTelemetry."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from signalbox.tracing.names import CONVENTIONS, Names

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
TRACES_ENDPOINT = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
SEMCONV = "OTEL_SEMCONV"
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_HEADERS = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
# The words that OpenTelemetry's instrumentations accept. Signalbox exports no events, so content goes to spans only.
_CAPTURES = {
    **dict.fromkeys(("true", "span_only", "span_and_event"), True),
    **dict.fromkeys(("", "false", "no_content"), False),
}


class TracingError(Exception):
    """A variable that cannot be used; the message names it, the reason and what to do."""


@dataclass(frozen=True, slots=True)
class Options:
    """How runs are traced. `propagates`: traceparent is taken from requests, and sent to upstreams and tools.

    `secrets` are the values of the headers that the exporter sends.
    """

    names: Names
    captures_content: bool = False
    propagates: bool = True
    secrets: tuple[str, ...] = ()


def read_options(variables: Mapping[str, str]) -> Options | None:
    """Return the options, None if traces are off; raises TracingError for an invalid value, even if they are off."""
    names = _names(variables.get(SEMCONV, ""))
    captures = _captures_content(variables.get(CAPTURE, ""))
    if not _is_on(variables):
        return None
    _check_exporter(variables)
    propagators = _words(variables.get("OTEL_PROPAGATORS", "tracecontext"))
    return Options(names, captures, "tracecontext" in propagators, tuple(_secrets(variables)))


def _is_on(variables: Mapping[str, str]) -> bool:
    is_disabled = variables.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    is_none = variables.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none"
    has_endpoint = any(variables.get(name, "").strip() for name in (TRACES_ENDPOINT, ENDPOINT))
    return has_endpoint and not is_disabled and not is_none


def _names(chosen: str) -> Names:
    name = chosen.strip().lower() or "latest"
    if name not in CONVENTIONS:
        raise TracingError(f"The variable {SEMCONV} must be one of {', '.join(CONVENTIONS)}. Correct it, or remove it.")
    return CONVENTIONS[name]


def _captures_content(chosen: str) -> bool:
    word = chosen.strip().lower()
    if word not in _CAPTURES:
        raise TracingError(
            f"The variable {CAPTURE} must be true, false, SPAN_ONLY or NO_CONTENT: Signalbox exports no events. "
            "Correct it, or remove it."
        )
    return _CAPTURES[word]


def _check_exporter(variables: Mapping[str, str]) -> None:
    exporter = variables.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    if exporter not in ("", "otlp"):
        raise TracingError("The variable OTEL_TRACES_EXPORTER must be otlp or none. Correct it, or remove it.")
    for name in _PROTOCOLS:
        if variables.get(name, "").strip().lower() not in ("", "http/protobuf"):
            raise TracingError(
                f"The variable {name} must be http/protobuf, the only protocol that Signalbox exports. Most collectors "
                "receive it on port 4318. Correct it, or remove it."
            )
    for name in (TRACES_ENDPOINT, ENDPOINT):
        url = variables.get(name, "").strip().lower()
        if url and not url.startswith(("http://", "https://")):
            raise TracingError(f"The variable {name} must be a URL that begins with http:// or https://. Correct it.")


def _words(text: str) -> set[str]:
    return {word.strip().lower() for word in text.split(",")}


def _secrets(variables: Mapping[str, str]) -> list[str]:
    """Return the values of headers such as `authorization=Bearer%20…`, as written and decoded."""
    pairs = [pair for name in _HEADERS for pair in variables.get(name, "").split(",")]
    values = [value.strip() for _, _, value in (pair.partition("=") for pair in pairs) if value.strip()]
    return [form for value in values for form in {value, unquote(value)}]
