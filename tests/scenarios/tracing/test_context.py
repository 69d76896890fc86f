"""W3C trace context: taken from requests, sent to upstreams and tools, and to no one else."""

import httpx
import pytest
from signalbox.core.messages import JsonObject
from signalbox.core.tools import ToolContext

from tests.scenarios.tracing.conftest import Trace, calling, saying
from tests.support.collector import Collector
from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import ScriptedUpstream

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{PARENT}-01"
BOTH_LOOPS = pytest.mark.parametrize("v2", [True, False], ids=["v2", "legacy"])


@BOTH_LOOPS
def test_upstreams_and_tools_continue_the_trace_of_the_request(
    start_app: StartApp, collector: Collector, traced: Trace, *, v2: bool
) -> None:
    """Each attempt and each call sends its own span as the parent."""
    given: list[dict[str, str]] = []

    def keep(arguments: JsonObject, context: ToolContext) -> object:
        given.append(dict(context.trace_headers))
        return "done"

    app, upstream = start_app(
        calling(("f", {})), saying("Done."), settings={"tool_loop_v2": v2}, extra_tools=[make_tool("f", keep)]
    )
    headers = {"traceparent": VALID, "tracestate": "vendor=1"}
    app.client.post("/api/chat", json={"model": "openai/sim", "prompt": "Hi", "tools": ["f"]}, headers=headers)
    collector.wait_for_runs()
    assert {span.trace for span in collector.spans} == {TRACE}
    assert collector.the("invoke_agent").parent == PARENT
    sent = [f"00-{TRACE}-{span.id}" for span in collector.named("chat openai/sim")]
    assert [asked.headers["traceparent"].rpartition("-")[0] for asked in upstream.asked] == sent
    assert {asked.headers["tracestate"] for asked in upstream.asked} == {"vendor=1"}
    tool = collector.the("execute_tool f")
    assert [one["traceparent"].rpartition("-")[0] for one in given] == [f"00-{TRACE}-{tool.id}"]


@pytest.mark.parametrize(
    "headers",
    [
        [("traceparent", "00-0-0-01")],
        [("traceparent", f"00-{'0' * 32}-{PARENT}-01")],
        [("traceparent", f"00-{TRACE}-{'0' * 16}-01")],
        [("traceparent", f"ff-{TRACE}-{PARENT}-01")],
        [("traceparent", f"00-{TRACE.upper()}-{PARENT}-01")],
        [("traceparent", VALID + "-more")],
        [("traceparent", VALID), ("traceparent", VALID)],
        [("traceparent", "é" * 9)],
        [("traceparent", VALID * 20)],
        [("tracestate", "vendor=1")],
    ],
)
def test_a_malformed_parent_starts_a_new_trace(
    start_app: StartApp, collector: Collector, traced: Trace, headers: list[tuple[str, str]]
) -> None:
    """The request is answered all the same."""
    app, upstream = start_app(saying("Hello."))
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    response = app.client.post(
        "/api/chat", json={"model": "openai/sim", "prompt": "Hi", "tools": []}, headers=httpx.Headers(encoded)
    )
    assert response.status_code == 200
    collector.wait_for_runs()
    root = collector.the("invoke_agent")
    assert (root.parent, root.trace != TRACE) == ("", True)
    assert "tracestate" not in upstream.asked[0].headers


def test_an_invalid_tracestate_alone_is_dropped(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """Its traceparent counts."""
    app, upstream = start_app(saying("Hello."))
    headers = {"traceparent": VALID, "tracestate": "=;;x" * 300}
    app.client.post("/api/chat", json={"model": "openai/sim", "prompt": "Hi", "tools": []}, headers=headers)
    collector.wait_for_runs()
    assert collector.the("invoke_agent").trace == TRACE
    assert "tracestate" not in upstream.asked[0].headers


def test_a_client_that_does_not_sample_is_heeded(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """The default sampler follows the parent; the upstream learns it too."""
    app, upstream = start_app(saying("Hello."))
    body = {"model": "openai/sim", "prompt": "Hi", "tools": []}
    app.client.post("/api/chat", json=body, headers={"traceparent": f"00-{TRACE}-{PARENT}-00"})
    app.client.post("/api/chat", json=body)
    collector.wait_for_runs()
    assert TRACE not in {span.trace for span in collector.spans}
    assert upstream.asked[0].headers["traceparent"].startswith(f"00-{TRACE}-")
    assert upstream.asked[0].headers["traceparent"].endswith("-00")


def test_search_services_receive_no_context(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """Third parties would learn which of their requests belong to one conversation."""
    with ScriptedUpstream(saying("unused")) as service:
        settings = {"search_backend": "brave", "brave_api_key": "brave-key-1", "brave_base_url": service.base_url}
        app, _ = start_app(calling(("search_web", {"query": "lamps"})), saying("Done."), settings=settings)
        app.ask(tools=["search_web"])
        collector.wait_for_runs()
        [asked] = service.catalogues
    assert collector.the("execute_tool search_web").attributes["error.type"]
    assert not {"traceparent", "tracestate"} & asked.headers.keys()


def test_propagators_none_takes_and_sends_no_context(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """For operators whose upstream must not learn of their traces."""
    traced(OTEL_PROPAGATORS="none")
    app, upstream = start_app(saying("Hello."))
    body = {"model": "openai/sim", "prompt": "Hi", "tools": []}
    app.client.post("/api/chat", json=body, headers={"traceparent": VALID})
    collector.wait_for_runs()
    assert collector.the("invoke_agent").trace != TRACE
    assert "traceparent" not in upstream.asked[0].headers


def test_without_tracing_no_context_is_forwarded(start_app: StartApp) -> None:
    """Only a traced run has a span that could be the parent."""
    app, upstream = start_app(saying("Hello."))
    body = {"model": "openai/sim", "prompt": "Hi", "tools": []}
    app.client.post("/api/chat", json=body, headers={"traceparent": VALID})
    assert "traceparent" not in upstream.asked[0].headers
