"""`signalbox doctor`: the collector of traces, the variables of OpenTelemetry, and the port of the metrics."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from signalbox.commands.doctor import metrics_port, traces
from signalbox.commands.doctor.finding import Finding
from signalbox.commands.doctor.installation import read_settings
from signalbox.commands.doctor.metrics_port import check_metrics_port
from signalbox.commands.doctor.traces import check_traces

from tests.support.collector import Collector
from tests.support.doctor import examined
from tests.support.processes import serving
from tests.support.running_app import settings_for

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """Run a collector, and name it in the environment."""
    with Collector() as running:
        monkeypatch.setenv(ENDPOINT, running.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield running


def traced() -> Finding:
    """Return the only finding about traces."""
    [finding] = asyncio.run(check_traces())
    return finding


def test_a_collector_that_accepts_traces(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets one request without spans, with the headers of the export."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=chat")
    assert (traced().state, traced().found) == ("ok", f"{collector.url[7:]} accepts traces.")
    assert collector.headers[0]["x-team"] == "chat"
    assert collector.spans == []


@pytest.mark.parametrize("status", [401, 404, 302])
def test_a_collector_that_refuses(collector: Collector, status: int) -> None:
    """Its status is named, and what to correct."""
    collector.status = status
    finding = traced()
    assert (finding.state, finding.found) == ("fail", f"{collector.url[7:]} does not accept traces (HTTP {status}).")
    assert ENDPOINT in finding.todo


def test_a_collector_that_does_not_answer_in_time(
    silent: int, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check ends before the doctor's limit."""
    monkeypatch.setattr(traces, "SECONDS", 0.1)
    monkeypatch.setenv(ENDPOINT, f"http://127.0.0.1:{silent}")
    assert traced().found == f"127.0.0.1:{silent} does not accept traces (TimeoutError)."


def test_without_a_collector_there_is_no_finding(tmp_path: Path) -> None:
    """Neither of traces nor of metrics."""
    assert {"traces", "metrics"}.isdisjoint(examined(settings_for(tmp_path, signalbox_port=0)))


def test_an_invalid_variable_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings are not called valid."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("OTEL_SEMCONV=foo\n")
    monkeypatch.setenv("OTEL_SEMCONV", "")  # `.env` exports it; this restores it
    monkeypatch.delenv("OTEL_SEMCONV")
    settings, findings = read_settings()
    assert settings is not None
    [finding] = [one for one in findings if one.state == "fail"]  # CI sets a variable that gives a warning
    assert finding.about == "settings"
    assert finding.found == "The variable OTEL_SEMCONV must be one of latest, 1.41, openinference."
    assert asyncio.run(check_traces()) == []


@pytest.mark.parametrize("token", [None, "metrics-token-0123456789"])
def test_the_metrics_of_a_running_server(tmp_path: Path, token: str | None) -> None:
    """With and without the token, which the doctor knows."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    env = {"SIGNALBOX_METRICS_PORT": str(port)} | ({"SIGNALBOX_METRICS_TOKEN": token} if token else {})
    settings = settings_for(tmp_path, signalbox_metrics_port=port, signalbox_metrics_token=token)
    with serving(tmp_path, env=env):
        [finding] = asyncio.run(check_metrics_port(settings))
    assert (finding.state, finding.found) == ("ok", f"Signalbox serves its metrics at http://127.0.0.1:{port}/metrics.")
    [finding] = asyncio.run(check_metrics_port(settings))
    assert (finding.state, finding.found) == ("ok", f"127.0.0.1:{port} is free.")


def test_another_program_on_the_port_of_the_metrics(
    tmp_path: Path, silent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers something else, or nothing."""
    monkeypatch.setattr(metrics_port, "SECONDS", 0.1)
    [finding] = asyncio.run(check_metrics_port(settings_for(tmp_path, signalbox_metrics_port=silent)))
    assert finding.found == f"A program accepts connections at 127.0.0.1:{silent} but does not answer."
    with Collector() as other:
        port = int(other.url.rpartition(":")[2])
        [finding] = asyncio.run(check_metrics_port(settings_for(tmp_path, signalbox_metrics_port=port)))
    assert (finding.state, finding.found) == ("fail", f"Another program answers at 127.0.0.1:{port}.")


def test_one_port_for_both(tmp_path: Path) -> None:
    """The start would fail."""
    [finding] = asyncio.run(
        check_metrics_port(settings_for(tmp_path, signalbox_metrics_port=8000, signalbox_port=8000))
    )
    assert finding.found == "SIGNALBOX_METRICS_PORT and SIGNALBOX_PORT are both 8000."
