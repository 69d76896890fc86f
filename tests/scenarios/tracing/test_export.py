"""Exporting: the standard variables, a collector that is down, and the end of the process."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson
import pytest
from signalbox.app.settings.errors import SettingsError
from signalbox.tracing import setup
from structlog.testing import capture_logs

from tests.scenarios.tracing.conftest import Trace, calling, saying
from tests.support.collector import Collector
from tests.support.fixtures import StartApp
from tests.support.processes import Process, serving
from tests.support.running_app import RunningApp, read_until, settings_for
from tests.support.scripted_upstream import ScriptedUpstream, holds
from tests.support.silent_servers import silent_listener

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def test_the_standard_variables_configure_the_export(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """Headers, compression, the resource and the sampler are those of OpenTelemetry."""
    traced(
        OTEL_EXPORTER_OTLP_HEADERS="x-team=chat,authorization=Bearer%20collector-key-1",
        OTEL_EXPORTER_OTLP_COMPRESSION="gzip",
        OTEL_SERVICE_NAME="chat-eu",
        OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=test",
    )
    app, _ = start_app(saying("Hello."))
    app.ask(tools=[])
    collector.wait_for_runs()
    [headers] = collector.headers[:1]
    assert (headers["x-team"], headers["authorization"]) == ("chat", "Bearer collector-key-1")
    assert headers["content-encoding"] == "gzip"
    assert collector.resource["service.name"] == "chat-eu"
    assert collector.resource["deployment.environment.name"] == "test"
    assert collector.resource["service.version"]
    assert len(collector.resource["service.instance.id"]) == 36


def test_the_service_is_called_signalbox_by_default(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """Without OTEL_SERVICE_NAME, the SDK would say unknown_service."""
    app, _ = start_app(saying("Hello."))
    app.ask(tools=[])
    collector.wait_for_runs()
    assert collector.resource["service.name"] == "signalbox"


def test_the_endpoint_of_traces_is_used_as_it_is(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is a whole URL, and wins."""
    traced("http://127.0.0.1:9", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"{collector.url}/v1/traces")
    app, _ = start_app(saying("Hello."))
    app.ask(tools=[])
    collector.wait_for_runs()


def test_a_sampler_drops_runs(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """A run that is not sampled is answered, and its upstream is told."""
    traced(OTEL_TRACES_SAMPLER="always_off")
    app, upstream = start_app(saying("Hello."))
    assert app.ask(tools=[]).text == "Hello."
    assert upstream.asked[0].headers["traceparent"][-2:] in ("00", "02")  # the bit of a sampled trace is 01
    assert collector.spans == []


def test_the_end_of_the_process_exports_the_last_spans(
    tmp_path: Path, collector: Collector, traced: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch of the last seconds is not lost."""
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "60000")
    with ScriptedUpstream(saying("Hello.")) as upstream:
        with RunningApp(settings_for(tmp_path, openrouter_base_url=upstream.base_url)) as app:
            app.ask(tools=[])
            assert collector.spans == []
        assert [name for name, _ in collector.trees()] == ["invoke_agent"]


def test_a_collector_that_never_answers_delays_neither_runs_nor_the_end(
    tmp_path: Path, traced: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end waits for a bounded time."""
    monkeypatch.setattr(setup, "FLUSH_SECONDS", 0.2)
    with silent_listener() as port, ScriptedUpstream(saying("Hello.")) as upstream:
        traced(f"http://127.0.0.1:{port}")
        with RunningApp(settings_for(tmp_path, openrouter_base_url=upstream.base_url)) as app:
            for _ in range(5):
                assert app.ask(tools=[]).text == "Hello."
            began = time.monotonic()
        assert time.monotonic() - began < 5


def test_a_collector_that_refuses_costs_one_line(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """Until it accepts spans again."""
    collector.status = 400
    app, _ = start_app(saying("Hello."))
    with capture_logs() as lines:
        for number in range(3):
            app.ask(tools=[])
            assert collector.wait_until(lambda wanted=number + 1: len(collector.bodies) >= wanted)
        collector.status = 200
        app.ask(tools=[])
        collector.wait_for_runs()
    found = [line for line in lines if line["event"].startswith("traces.") or "opentelemetry" in str(line)]
    assert [line["event"] for line in found][:1] == ["traces.export_failed"]
    assert [line["event"] for line in found].count("traces.export_failed") == 1
    assert found[0]["error"] == "HTTP 400"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"status": 401}, "HTTP 401"),
        ({"status": 429}, "HTTP 429"),
        ({"status": 302}, "HTTP 302"),
        ({"status": 500}, "HTTP 500"),
        ({"rejected": 2}, "PartialSuccess"),
    ],
)
def test_a_failure_names_its_reason(
    start_app: StartApp, collector: Collector, traced: Trace, answer: dict[str, int], error: str
) -> None:
    """The status of the collector, or that it did not take all spans of a request."""
    traced(OTEL_EXPORTER_OTLP_TIMEOUT="0.5")
    for name, value in answer.items():
        setattr(collector, name, value)
    app, _ = start_app(saying("Hello."))
    with capture_logs() as lines:
        app.ask(tools=[])
        wait_for_line(lines, "traces.export_failed")
    assert [line["error"] for line in lines if line["event"] == "traces.export_failed"] == [error]


@pytest.mark.parametrize("is_silent", [False, True], ids=["refused", "silent"])
def test_the_stop_counts_all_spans_that_did_not_arrive(
    tmp_path: Path, traced: Trace, monkeypatch: pytest.MonkeyPatch, is_silent: bool
) -> None:
    """Those in the queue, too. A closed port and a collector that never answers have different names."""
    monkeypatch.setattr(setup, "FLUSH_SECONDS", 0.2)
    with silent_listener() as port, ScriptedUpstream(saying("Hello.")) as upstream, ExitStack() as stack:
        traced(f"http://127.0.0.1:{port if is_silent else 9}", OTEL_BSP_MAX_EXPORT_BATCH_SIZE="2")
        with RunningApp(settings_for(tmp_path, openrouter_base_url=upstream.base_url)) as app:
            lines = stack.enter_context(capture_logs())  # until after the stop
            for _ in range(5):
                app.ask(tools=[])
    [line] = [line for line in lines if line["event"] == "traces.lost_at_stop"]
    assert line["lost"] == 10
    assert line["error"] == ("NoAnswer" if is_silent else "ConnectionRefusedError")


def test_spans_that_no_queue_has_room_for_are_counted(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """Each run has two spans, two may wait, and the collector is slow."""
    traced(OTEL_BSP_MAX_QUEUE_SIZE="2", OTEL_BSP_MAX_EXPORT_BATCH_SIZE="2")
    app, _ = start_app(saying("Hello."))
    with capture_logs() as lines:
        collector.answers.clear()
        app.ask(tools=[])
        assert collector.wait_until(lambda: len(collector.bodies) == 1)
        for _ in range(4):
            app.ask(tools=[])
        collector.answers.set()
        runs = 5
        while not (again := [line["lost"] for line in lines if line["event"] == "traces.exported_again"]):
            assert collector.wait_until(lambda: len(collector.bodies) > 1)
            app.ask(tools=[])
            runs += 1
        assert collector.wait_until(lambda: len(collector.spans) + again[0] == 2 * runs), (lines, collector.spans)
    assert again[0] >= 6
    assert [line["lost"] for line in lines if line["event"] == "traces.export_failed"] == [1]


def wait_for_line(lines: list[Any], event: str) -> None:
    """Wait until a line is logged, by the thread that exports."""
    ends = time.monotonic() + 10
    while not any(line["event"] == event for line in lines):
        assert time.monotonic() < ends, lines
        threading.Event().wait(0.01)


def test_a_missing_collector_loses_spans_only(start_app: StartApp, traced: Trace) -> None:
    """Nothing listens on the port."""
    traced("http://127.0.0.1:9")
    app, _ = start_app(saying("Hello."))
    assert [app.ask(tools=[]).text for _ in range(3)] == ["Hello."] * 3


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"OTEL_SEMCONV": "1.40"}, "OTEL_SEMCONV must be one of latest, 1.41, openinference"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf"),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER must be otlp or none"),
        ({"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "yes"}, "must be true, false, SPAN_ONLY or NO_CONTENT"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "collector:4318"}, "begins with http:// or https://"),
    ],
)
def test_an_invalid_variable_fails_the_start(
    tmp_path: Path, traced: Trace, variables: dict[str, str], named: str
) -> None:
    """The sentence names the variable and its values."""
    traced(**variables)
    with pytest.raises(SettingsError, match=named):
        RunningApp(settings_for(tmp_path))


@pytest.mark.e2e
def test_without_an_endpoint_nothing_of_the_sdk_is_imported(tmp_path: Path) -> None:
    """FastAPI imports the API of OpenTelemetry if it is installed, but the SDK and the exporter are not loaded."""
    script = tmp_path / "main.py"
    script.write_text(
        "import sys, signalbox.cli, signalbox.app.main, signalbox.server.serve\n"
        "from signalbox.app.config import FixedSettings\n"
        "signalbox.app.main.create_app(FixedSettings())\n"
        "print([m for m in sys.modules if m.startswith(('opentelemetry.sdk', 'opentelemetry.exporter', 'requests'))])"
    )
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.e2e
@pytest.mark.parametrize("parent", [None, "00f067aa0ba902b7"], ids=["own trace", "client's trace"])
def test_the_span_of_a_crashed_run_finds_its_children(
    tmp_path: Path, collector: Collector, traced: Trace, parent: str | None
) -> None:
    """The next start exports the run's span, with the ids that it would have had, and its last line names them too."""
    env = {name: value for name, value in os.environ.items() if name.startswith(("OTEL_", "NO_PROXY"))}
    with ScriptedUpstream(calling(("calculate", {"expression": "1+1"})), holds) as upstream:
        env |= {"OPENROUTER_BASE_URL": upstream.base_url, "OPENROUTER_API_KEY": "sk-or-v1-crash"}
        process = Process(["-m", "signalbox", "serve", "--port", "0"], tmp_path, env).ready()
        body = {"model": "openai/sim", "prompt": "Add it up.", "tools": ["calculate"]}
        headers = {"x-request-id": "req-1"} | ({"traceparent": f"00-{TRACE}-{parent}-01"} if parent else {})
        ask = {"json": body, "headers": headers}
        with process.client() as client, client.stream("POST", "/api/chat/stream", **ask) as response:
            chunks = response.iter_raw()
            read_until(chunks, b"So far")
            assert collector.wait_until(lambda: len(collector.spans) == 2)
            os.kill(process.process.pid, signal.SIGKILL)
        process.end()
        with serving(tmp_path, env=env) as restarted:
            collector.wait_for_runs()
            lines = [orjson.loads(line) for line in restarted.errors().splitlines()]
    root = collector.the("invoke_agent")
    assert (root.status, root.attributes["error.type"]) == ("error", "SERVER_CRASH")
    assert root.attributes["signalbox.recovered"] is True
    assert root.attributes["signalbox.upstream"] == "default"
    assert (root.attributes["signalbox.request.id"], root.parent) == ("req-1", parent or "")
    [line] = [line for line in lines if line["event"] == "run.finished"]
    assert (line["request_id"], line["trace_id"], line["upstream"]) == ("req-1", root.trace, "default")
    assert (root.trace == TRACE) == (parent is not None)
    assert collector.trees() == [("invoke_agent", [("chat openai/sim", []), ("execute_tool calculate", [])])]
