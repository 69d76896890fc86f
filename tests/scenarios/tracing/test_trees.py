"""One trace per run, as a collector receives it: which span is whose parent, and how each one ends."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject, UserMessage
from signalbox.core.params import Params
from signalbox.core.parts import Request
from signalbox.core.tools import ToolContext
from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.tracing.ids import ids_of
from structlog.testing import capture_logs

from tests.scenarios.access.users import bearer
from tests.scenarios.tracing.conftest import Trace, calling, saying
from tests.scenarios.variants.variants_client import post
from tests.support.collector import Collector
from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp
from tests.support.metrics import Scrape
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import holds, sends

BOTH_LOOPS = pytest.mark.parametrize("v2", [True, False], ids=["v2", "legacy"])
MODEL = "chat openai/sim"


@BOTH_LOOPS
def test_a_run_has_a_span_for_each_attempt_and_each_call(
    start_app: StartApp, collector: Collector, traced: Trace, *, v2: bool
) -> None:
    """The spans have the names and attributes of the GenAI conventions."""
    script = calling(("add", {"a": 1}))
    app, _ = start_app(script, saying("Two."), settings={"tool_loop_v2": v2}, extra_tools=[make_tool("add")])
    stream = app.ask(tools=["add"], conversation_id="sums")
    collector.wait_for_runs()
    assert collector.trees() == [("invoke_agent", [(MODEL, []), ("execute_tool add", []), (MODEL, [])])]
    root, tool = collector.the("invoke_agent"), collector.the("execute_tool add")
    assert (root.kind, root.status) == ("internal", "unset")
    assert root.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert root.attributes["gen_ai.conversation.id"] == "sums"
    assert root.attributes["signalbox.run.status"] == "complete"
    assert root.attributes["signalbox.loop"] == ("v2" if v2 else "legacy")
    assert (root.attributes["signalbox.attempts"], root.attributes["signalbox.protocol"]) == (2, "v1.1")
    assert tool.attributes["gen_ai.tool.name"] == "add"
    assert tool.attributes["signalbox.tool_call.id"] == stream.of("tool_result")[0]["id"]
    first = collector.named(MODEL)[0]
    assert (first.kind, first.status) == ("client", "unset")
    assert first.attributes["gen_ai.provider.name"] == "openrouter"
    assert first.attributes["gen_ai.response.id"] == "gen-scripted"
    assert first.attributes["gen_ai.response.finish_reasons"] == ["tool_calls"]
    assert first.attributes["signalbox.served_by"] == "Scripted"
    assert [name for name, _ in first.events] == ["signalbox.first_chunk"]
    assert root.start <= first.start <= first.end <= tool.start + 10**9
    assert root.end >= collector.named(MODEL)[1].end


def test_the_only_upstream_has_the_name_that_metrics_and_logs_use(
    start_app: StartApp, collector: Collector, traced: Trace
) -> None:
    """No file configures it, so it has no other name."""
    token = "the-token-of-prometheus"
    app, _ = start_app(saying("Hello."), settings={"signalbox_metrics_token": token})
    with capture_logs() as lines:
        app.ask(tools=[])
    collector.wait_for_runs()
    found = Scrape(app.client.get("/metrics", headers=bearer(token)).raise_for_status().text)
    (ended,) = [line for line in lines if line["event"] == "run.finished"]
    spans = [collector.the(name).attributes["signalbox.upstream"] for name in ("invoke_agent", MODEL)]
    assert [*spans, ended["upstream"], found.labels("runs_total")[0]["upstream"]] == ["default"] * 4


@BOTH_LOOPS
def test_a_retry_is_an_event_and_a_second_attempt(
    start_app: StartApp, collector: Collector, traced: Trace, no_waiting: object, *, v2: bool
) -> None:
    """The failed attempt has its code; the run itself has not failed."""
    overloaded = sends(b'{"error":{"code":503,"message":"busy"}}', status=503, kind="application/json")
    app, _ = start_app(overloaded, saying("Hello."), settings={"tool_loop_v2": v2})
    app.ask(tools=[])
    collector.wait_for_runs()
    failed, answered = collector.named(MODEL)
    assert (failed.status, failed.message) == ("error", "UPSTREAM_OVERLOADED")
    assert failed.attributes["error.type"] == "UPSTREAM_OVERLOADED"
    assert [span.attributes["signalbox.attempt"] for span in (failed, answered)] == [1, 2]
    root = collector.the("invoke_agent")
    [(name, values)] = root.events
    assert (name, values["error.type"], root.status) == ("signalbox.retry", "UPSTREAM_OVERLOADED", "unset")


@BOTH_LOOPS
def test_a_failed_run_and_a_failed_tool(start_app: StartApp, collector: Collector, traced: Trace, *, v2: bool) -> None:
    """The codes are those of the contract; messages of tools and providers are not exported."""

    def fail(arguments: JsonObject, context: ToolContext) -> object:
        raise ToolError(Code.TOOL_FAILED, "canary in a message")

    refused = sends(b'{"error":{"code":401,"message":"canary in a message"}}', status=401, kind="application/json")
    script = calling(("f", {}), ("canary", {}))
    app, _ = start_app(script, refused, settings={"tool_loop_v2": v2}, extra_tools=[make_tool("f", fail)])
    app.ask(tools=["f"])
    collector.wait_for_runs()
    root, tool = collector.the("invoke_agent"), collector.the("execute_tool f")
    assert (tool.status, tool.attributes["error.type"]) == ("error", "TOOL_FAILED")
    assert (root.status, root.attributes["error.type"]) == ("error", "UPSTREAM_AUTH")
    [(name, values)] = root.events
    assert (name, values["error.type"]) == ("signalbox.tool_call.rejected", "UNKNOWN_TOOL")
    assert b"canary" not in b"".join(collector.bodies)


@BOTH_LOOPS
def test_parallel_tools_and_their_model_calls_keep_their_parents(
    start_app: StartApp, collector: Collector, traced: Trace, *, v2: bool
) -> None:
    """Two calls overlap, each with its own attempt below it."""
    both = asyncio.Barrier(2)

    async def work(arguments: JsonObject, context: ToolContext) -> object:
        assert context.model_calls is not None
        route = running[0].parts.upstreams.route("openai/sim", Params())
        async with asyncio.timeout(10):
            await both.wait()  # both calls are open
        request = Request(f"openai/{arguments['model']}", (UserMessage("Draw."),))
        await context.model_calls.complete(context.call_id, route, request)
        route.release()
        return "done"

    script = calling(("work", {"model": "a"}), ("work", {"model": "b"}))
    tool = make_tool("work", work)
    app, _ = start_app(script, saying("Done."), settings={"tool_loop_v2": v2}, extra_tools=[tool])
    running = [app]
    app.ask(tools=["work"])
    collector.wait_for_runs()
    assert len(collector.named("execute_tool work")) == 2
    by_id = {span.id: span for span in collector.spans}
    root = collector.the("invoke_agent")
    for span in collector.named("chat openai/a") + collector.named("chat openai/b"):
        parent = by_id[span.parent]
        assert (parent.name, parent.parent) == ("execute_tool work", root.id)
        assert parent.start <= span.start <= span.end <= parent.end


def test_a_cancelled_run_ends_all_its_spans(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """Stopping a run is no failure."""
    app, upstream = start_app(holds)
    with app.asking(tools=[]) as response:
        assert upstream.wait_until(lambda: len(upstream.asked) == 1)
        app.client.post(f"/api/runs/{response.headers['x-run-id']}/stop")
    collector.wait_for_runs()
    root = collector.the("invoke_agent")
    assert collector.trees() == [("invoke_agent", [(MODEL, [])])]
    assert (root.status, root.attributes["signalbox.run.status"]) == ("unset", "cancelled")


def test_a_cancelled_tool_ends_with_its_run(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """Its call has no result when the run ends."""
    begun = threading.Event()

    async def wait(arguments: JsonObject, context: ToolContext) -> object:
        begun.set()
        await asyncio.Event().wait()

    app, _ = start_app(calling(("wait", {})), extra_tools=[make_tool("wait", wait)])
    with app.asking(tools=["wait"]) as response:
        assert begun.wait(10)
        app.client.post(f"/api/runs/{response.headers['x-run-id']}/stop")
    collector.wait_for_runs()
    assert collector.trees() == [("invoke_agent", [(MODEL, []), ("execute_tool wait", [])])]
    assert collector.the("execute_tool wait").attributes["error.type"] == "CANCELLED"


def test_equal_searches_are_one_span_and_an_event(app_with_search: RunningApp, collector: Collector) -> None:
    """The second call is answered by the first."""
    app_with_search.ask(model="anthropic/sim-duplicate")
    collector.wait_for_runs()
    events = [name for name, _ in collector.the("invoke_agent").events]
    assert len(collector.named("execute_tool search_web")) == 1
    assert set(events) == {"signalbox.tool_call.reused"}


@pytest.fixture
def app_with_search(simulator: BackgroundSimulator, tmp_path: Path, traced: Trace) -> Iterator[RunningApp]:
    """Run a traced app over the simulator."""
    with RunningApp(settings_for(tmp_path, openrouter_base_url=simulator.base_url)) as running:
        yield running


def test_the_ids_of_a_run_follow_from_its_id(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """So a run is found in a tracing system, and the span of a crashed run finds its children."""
    app, _ = start_app(saying("Hello."))
    run_id = app.post(prompt="Hi", tools=[]).headers["x-run-id"]
    collector.wait_for_runs()
    root = collector.the("invoke_agent")
    ids = ids_of(run_id)
    assert (int(root.trace, 16), int(root.id, 16), root.parent) == (ids.trace, ids.span, "")
    assert run_id not in root.trace
    assert root.attributes["signalbox.run.id"] == run_id


def test_variants_are_runs_of_their_own(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """Below the span of a request that started them, if it has one."""
    app, _ = start_app(saying("Hello."))
    parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    response = post(app, "openai/a", "openai/b", headers={"traceparent": parent})
    assert response.status_code == 200, response.text
    collector.wait_for_runs(2)
    assert {span.trace for span in collector.spans} == {"4bf92f3577b34da6a3ce929d0e0e4736"}
    assert {span.parent for span in collector.named("invoke_agent")} == {"00f067aa0ba902b7"}
    assert sorted(collector.trees()) == [
        ("invoke_agent", [("chat openai/a", [])]),
        ("invoke_agent", [("chat openai/b", [])]),
    ]
