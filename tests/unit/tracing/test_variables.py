"""Values of OpenTelemetry's variables that the start refuses: the SDK would ignore them, or fail without a cause."""

from pathlib import Path

import pytest
from opentelemetry.sdk.trace.sampling import _KNOWN_SAMPLERS
from signalbox.tracing.options import ENDPOINT, TracingError, read_options

ON = {ENDPOINT: "http://collector:4318"}


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("OTEL_TRACES_SAMPLER", "foo", 'is "foo", but must be always_on, always_off, '),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", 'is "zstd", but must be none, gzip or deflate'),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "abc", 'is "abc", but must be a number of seconds greater than 0'),
        ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "nan", "must be a number of seconds"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nope", 'is "/nope", but must be the path of a file that the server can'),
        ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/nope", "must be the path of a file"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "abc", 'is "abc", but must be a whole number of at least 1'),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "0", "must be a whole number of at least 1"),
        ("OTEL_BSP_SCHEDULE_DELAY", "-1", 'is "-1", but must be a whole number of at least 1'),
        ("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "long", "must be a whole number"),
        ("OTEL_SDK_DISABLED", "maybe", "must be true or false"),
        ("OTEL_RESOURCE_ATTRIBUTES", "chat", "must be a list such as name=value"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector:port", "must be a URL"),
    ],
)
def test_an_invalid_value(name: str, value: str, rule: str) -> None:
    """The message names the variable, its value and what is valid."""
    with pytest.raises(TracingError) as raised:
        read_options({**ON, name: value})
    assert name in str(raised.value)
    assert rule in str(raised.value)
    assert str(raised.value).endswith("Correct it, or remove it.")


@pytest.mark.parametrize("value", ["2", "-0.1", "half", "nan"])
def test_the_share_of_traced_runs(value: str) -> None:
    """It matters for the two samplers that use it."""
    with pytest.raises(TracingError, match=r"OTEL_TRACES_SAMPLER_ARG .* must be a number from 0 to 1"):
        read_options({**ON, "OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": value})
    assert read_options({**ON, "OTEL_TRACES_SAMPLER": "always_on", "OTEL_TRACES_SAMPLER_ARG": value})


@pytest.mark.parametrize("headers", ["broken header", "=value-9", "x-key=se\ncret-9", "a=1,secret-9", "x-key=%C3%A9-9"])
def test_headers_that_cannot_be_sent(headers: str) -> None:
    """The message does not contain their values."""
    with pytest.raises(TracingError, match=r"OTEL_EXPORTER_OTLP_HEADERS must be a list such as") as raised:
        read_options({**ON, "OTEL_EXPORTER_OTLP_HEADERS": headers})
    assert "-9" not in str(raised.value)


@pytest.mark.parametrize(
    ("variables", "sizes"),
    [({"QUEUE_SIZE": "10"}, ("512", "10")), ({"EXPORT_BATCH_SIZE": "4096"}, ("4096", "2048"))],
)
def test_a_batch_must_fit_into_the_queue(variables: dict[str, str], sizes: tuple[str, str]) -> None:
    """Both sizes are named, also the one that has its default."""
    with pytest.raises(TracingError) as raised:
        read_options({**ON, **{f"OTEL_BSP_MAX_{name}": value for name, value in variables.items()}})
    assert f"OTEL_BSP_MAX_EXPORT_BATCH_SIZE ({sizes[0]}) must not be greater than " in str(raised.value)
    assert f"OTEL_BSP_MAX_QUEUE_SIZE ({sizes[1]})" in str(raised.value)


def test_valid_and_empty_values(tmp_path: Path) -> None:
    """An empty value counts as not set."""
    (tmp_path / "ca.pem").write_text("-")
    variables = {
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20key, x-team=chat room,",
        "OTEL_EXPORTER_OTLP_COMPRESSION": "GZIP",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "2.5",
        "OTEL_EXPORTER_OTLP_CERTIFICATE": str(tmp_path / "ca.pem"),
        "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE": str(tmp_path),
        "OTEL_BSP_MAX_QUEUE_SIZE": "512",
        "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "",
        "OTEL_RESOURCE_ATTRIBUTES": "team=chat,region=",
        "OTEL_SDK_DISABLED": "False",
        "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "0",
    }
    options = read_options({**ON, **variables})
    assert options is not None
    assert options.queue_size == 512


@pytest.mark.parametrize("sampler", sorted(_KNOWN_SAMPLERS))
def test_all_samplers_of_the_sdk_are_valid(sampler: str) -> None:
    """They may be written in upper case."""
    assert read_options({**ON, "OTEL_TRACES_SAMPLER": sampler.upper()})


def test_values_do_not_matter_without_a_collector() -> None:
    """They may belong to another program."""
    assert read_options({"OTEL_TRACES_SAMPLER": "foo", "OTEL_SDK_DISABLED": "maybe"}) is None
