"""When traces are on, and what their variables mean."""

import pytest
from signalbox.tracing.names import LATEST, OPENINFERENCE
from signalbox.tracing.options import CAPTURE, ENDPOINT, SEMCONV, TracingError, read_options

ON = {ENDPOINT: "http://collector:4318"}


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {ENDPOINT: " "},
        {**ON, "OTEL_SDK_DISABLED": "True"},
        {**ON, "OTEL_TRACES_EXPORTER": "none"},
    ],
)
def test_off(variables: dict[str, str]) -> None:
    """Without a collector, or if a standard variable says so."""
    assert read_options(variables) is None


def test_on() -> None:
    """The defaults: current names, no content, context is propagated."""
    options = read_options(ON)
    assert options is not None
    assert (options.names, options.captures_content, options.propagates) == (LATEST, False, True)


def test_an_unknown_convention_fails_even_if_traces_are_off() -> None:
    """So that it is found before it matters."""
    with pytest.raises(TracingError, match=r"must be one of latest, 1\.41, openinference"):
        read_options({SEMCONV: "newest"})


@pytest.mark.parametrize("word", ["true", "SPAN_ONLY", "span_and_event"])
def test_words_that_capture_content(word: str) -> None:
    """Those of the specification's instrumentations."""
    options = read_options({**ON, CAPTURE: word, SEMCONV: " OpenInference "})
    assert options is not None
    assert (options.captures_content, options.names) == (True, OPENINFERENCE)


def test_the_values_of_headers_are_secrets() -> None:
    """They are redacted from the log, as written and decoded."""
    options = read_options({**ON, "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20key-123456, x-team=chat"})
    assert options is not None
    assert {"Bearer%20key-123456", "Bearer key-123456", "key-123456", "chat"} == {*options.secrets}


@pytest.mark.parametrize(
    ("propagators", "expected"),
    [("baggage,tracecontext", True), ("", True), ("none", False), ("b3", False), ("tracecontext,none", False)],
)
def test_propagators(propagators: str, expected: bool) -> None:
    """Only the W3C trace context is supported."""
    options = read_options({**ON, "OTEL_PROPAGATORS": propagators})
    assert options is not None
    assert options.propagates is expected
