"""The options of traces, from OpenTelemetry's environment variables. Imports nothing of OpenTelemetry."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from signalbox.tracing.names import CONVENTIONS, Names
from signalbox.tracing.propagators import PROPAGATORS
from signalbox.tracing.variables import (
    DEFAULT_QUEUE,
    ENDPOINT,
    HEADERS,
    QUEUE_SIZE,
    TRACES_ENDPOINT,
    TracingError,
    check_variables,
    number,
)

SEMCONV = "OTEL_SEMCONV"
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
# The words that OpenTelemetry's instrumentations accept. Signalbox exports no events, so content goes to spans only.
_CAPTURES = {
    **dict.fromkeys(("true", "span_only", "span_and_event"), True),
    **dict.fromkeys(("", "false", "no_content"), False),
}


@dataclass(frozen=True, slots=True)
class Options:
    """How runs are traced. `propagates`: traceparent is taken from requests, and sent to upstreams and tools.

    `secrets` are the values of the headers that the exporter sends. At most `queue_size` spans wait for their
    export. `endpoint` is the URL of the collector, with or without its path. `only_upstream` names the upstream if no
    file configures several.
    """

    names: Names
    captures_content: bool = False
    propagates: bool = True
    secrets: tuple[str, ...] = ()
    queue_size: int = DEFAULT_QUEUE
    endpoint: str = ""
    only_upstream: str = ""


def read_options(variables: Mapping[str, str]) -> Options | None:
    """Return the options, None if traces are off; raises TracingError for an invalid value, even if they are off."""
    names = _names(variables.get(SEMCONV, ""))
    captures = _captures_content(variables.get(CAPTURE, ""))
    if not _is_on(variables):
        return None
    _check_exporter(variables)
    check_variables(variables)
    return Options(
        names,
        captures,
        propagates=_propagates(variables.get(PROPAGATORS, "")),
        secrets=tuple(_secrets(variables)),
        queue_size=number(variables, QUEUE_SIZE, DEFAULT_QUEUE),
        endpoint=variables.get(TRACES_ENDPOINT, "").strip() or variables[ENDPOINT].strip(),
    )


def _is_on(variables: Mapping[str, str]) -> bool:
    disabled = variables.get("OTEL_SDK_DISABLED", "").strip().lower()
    if not any(variables.get(name, "").strip() for name in (TRACES_ENDPOINT, ENDPOINT)):
        return False
    if disabled not in ("", "true", "false"):
        raise TracingError("The variable OTEL_SDK_DISABLED must be true or false. Correct it, or remove it.")
    return disabled != "true" and variables.get("OTEL_TRACES_EXPORTER", "").strip().lower() != "none"


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


def _propagates(propagators: str) -> bool:
    words = {word.strip().lower() for word in propagators.split(",")} - {""}
    return not words or ("tracecontext" in words and "none" not in words)


def _secrets(variables: Mapping[str, str]) -> list[str]:
    """Return the values of headers such as `authorization=Bearer%20KEY`, as written and decoded, and KEY alone."""
    pairs = [pair for name in HEADERS for pair in variables.get(name, "").split(",")]
    values = [value.strip() for _, _, value in (pair.partition("=") for pair in pairs) if value.strip()]
    words = [word for value in values for word in unquote(value).split(" ")[1:]]
    return [form for value in (*values, *words) for form in {value, unquote(value)}]
