"""F4, E3: the cost of a run is known in the end, reported or not; through the whole app."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from signalbox.chat.loops.progress import Attempt
from signalbox.chat.loops.retry import Retry
from signalbox.core.parts import Served
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.quirks.billing_upstream import (
    BILL,
    LOOPS,
    USAGE,
    BillingEndpoint,
    HeldSettlements,
    answers,
    stopped,
)
from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import (
    DONE,
    Exchange,
    call_chunk,
    chunk,
    holds,
    says,
    sends,
)
from tests.support.stream_reader import check_stream

WAIT = 10.0
READ = {"input": 20, "output": 7, "reasoning": 0, "cached": 0, "cost": 0.5, "cache_written": 0}


@pytest.fixture
def simulated(
    simulator: BackgroundSimulator, tmp_path: Path
) -> Iterator[Callable[[str], tuple[RunningApp, BackgroundSimulator]]]:
    """Run an app of either loop over the simulator."""

    def start(loop: str) -> tuple[RunningApp, BackgroundSimulator]:
        settings = settings_for(tmp_path, openrouter_base_url=simulator.base_url, tool_loop_v2=loop == "v2")
        return stack.enter_context(RunningApp(settings)), simulator

    with ExitStack() as stack:
        yield start


@LOOPS
@pytest.mark.parametrize(
    ("model", "status", "ends_billing"),
    [
        ("openai/sim-stall", "cancelled", True),
        ("google/sim-stall", "cancelled", False),
        ("openai/sim-cut", "interrupted", True),
    ],
)
def test_f04_what_a_broken_stream_cost_is_fetched_later(
    simulated: Callable[[str], tuple[RunningApp, BackgroundSimulator]],
    loop: str,
    model: str,
    status: str,
    ends_billing: bool,
) -> None:
    """A stopped or cut run is estimated first, then has the upstream's cost; `done` and journal stay unchanged."""
    app, simulator = simulated(loop)
    held = HeldSettlements(app)
    asked = {"model": model, "prompt": "Hello!", "tools": []}
    if status == "cancelled":
        run_id, heard = stopped(app, b'"content"', **asked)
    else:
        response = app.post(**asked)
        run_id, heard = response.headers["x-run-id"], check_stream(response.content)
    assert heard.done["status"] == status
    assert heard.done["cost_estimated"] is True
    assert "cost" not in heard.done
    before = held.trace(run_id)
    assert (before["cost"], before["cost_estimated"], before["settled_at"]) == (None, True, None)
    [attempt] = before["attempts"]
    assert (attempt["usage"], attempt["settled"], attempt["streamed"]) == (None, False, True)
    assert attempt["stop_ends_billing"] is ends_billing
    journal = app.client.get(f"/api/runs/{run_id}/events").content

    assert simulator.wait_until(lambda memory: not memory.unfinished)
    held.settle()
    after = held.trace(run_id)
    observed = simulator.state.generations[attempt["generation_id"]]
    assert after["cost"] == observed["total_cost"] > 0
    assert (after["cost_estimated"], after["settled_at"] >= after["ended"]) == (False, True)
    [attempt] = after["attempts"]
    assert attempt["settled"] is True
    assert attempt["usage"]["output"] == observed["native_tokens_completion"] > 0
    assert after["done"] == before["done"]
    assert app.client.get(f"/api/runs/{run_id}/events").content == journal
    listed = app.client.get("/api/runs").json()["runs"][0]
    assert (listed["cost"], listed["cost_estimated"]) == (after["cost"], False)


def _heads(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set an event when an attempt has received a response head."""
    heard, parse_stream = threading.Event(), Attempt.set_generation

    def record_head(attempt: Attempt, head: Served) -> None:
        parse_stream(attempt, head)
        heard.set()

    monkeypatch.setattr(Attempt, "set_generation", record_head)
    return heard


@LOOPS
def test_f04_a_stop_between_head_and_first_chunk(
    start_app: StartApp, monkeypatch: pytest.MonkeyPatch, loop: str
) -> None:
    """The id in the head is known before the first byte, survives the stop, and is settled.

    The legacy loop requests one body here, whose billing no provider stops.
    """

    async def head_only(exchange: Exchange) -> None:
        await exchange.head(x_generation_id="gen-head")
        await exchange.client_left()

    headed = _heads(monkeypatch)
    billing_endpoint = BillingEndpoint(gen_head=BILL)
    tool = make_tool("bell")
    app, _ = start_app(head_only, models=billing_endpoint, settings={"tool_loop_v2": loop == "v2"}, extra_tools=[tool])
    held = HeldSettlements(app)
    with app.asking(tools=["bell"]) as response:
        run_id = response.headers["x-run-id"]
        assert headed.wait(WAIT)
        app.client.post(f"/api/runs/{run_id}/stop")
        heard = check_stream(b"".join(response.iter_raw()))
    assert (heard.done["status"], heard.done["cost_estimated"]) == ("cancelled", True)
    [attempt] = held.trace(run_id)["attempts"]
    assert (attempt["generation_id"], attempt["first_part"], attempt["provider"]) == ("gen-head", None, None)
    assert (attempt["streamed"], attempt["stop_ends_billing"]) == (loop == "v2", None)
    held.settle()
    after = held.trace(run_id)
    assert (after["cost"], after["cost_estimated"]) == (0.5, False)
    [attempt] = after["attempts"]
    assert (attempt["usage"], attempt["provider"], attempt["stop_ends_billing"]) == (READ, "Groq", False)


def test_f04_steps_that_told_and_one_that_did_not(start_app: StartApp) -> None:
    """A run stopped in its second step has the first step's cost and the second's bill, each once."""

    async def speaks(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send(chunk({"content": "So far"}, id="gen-2"))
        await exchange.client_left()

    calls = sends(call_chunk("bell", "{}"), chunk({}, finish="tool_calls", id="gen-1", usage=USAGE) + DONE)
    billing_endpoint = BillingEndpoint(gen_2=BILL, gen_1=BILL, gen_scripted=BILL)
    app, _ = start_app(calls, speaks, models=billing_endpoint, extra_tools=[make_tool("bell")])
    held = HeldSettlements(app)
    run_id, heard = stopped(app, b"So far", tools=["bell"])
    assert (heard.done["cost"], heard.done["cost_estimated"]) == (0.25, True)
    assert heard.done["usage"] == {"input": 10, "output": 5}
    held.settle()
    after = held.trace(run_id)
    assert (after["cost"], after["cost_estimated"]) == (0.75, False)
    assert [attempt["settled"] for attempt in after["attempts"]] == [False, True]
    assert after["attempts"][1]["usage"] == READ
    assert billing_endpoint.asked == ["gen-2"]


def test_f04_attempts_of_a_retried_step_are_all_paid(start_app: StartApp, no_waiting: list[Retry]) -> None:
    """An attempt that failed before its first part is billed; a rejected request is not."""

    async def breaks(exchange: Exchange) -> None:
        await exchange.head(x_generation_id="gen-broken")

    async def refuses(exchange: Exchange) -> None:
        await exchange.whole(503, b'{"error":{"code":503,"message":"No instances"}}', x_generation_id="gen-refused")

    billing_endpoint = BillingEndpoint(gen_broken=BILL, gen_refused=BILL, gen_good=BILL)
    app, _ = start_app(breaks, refuses, answers("Hello.", generation="gen-good"), models=billing_endpoint)
    held = HeldSettlements(app)
    heard = app.ask(tools=[])
    assert (heard.done["status"], heard.done["cost"], heard.done["cost_estimated"]) == ("complete", 0.25, True)
    held.settle()
    after = held.trace(heard.events[0]["run_id"])
    assert (after["cost"], after["cost_estimated"]) == (0.75, False)
    assert [attempt["generation_id"] for attempt in after["attempts"]] == ["gen-broken", None, "gen-good"]
    assert [attempt["code"] for attempt in after["attempts"]] == ["STREAM_CUT", "UPSTREAM_OVERLOADED", None]
    assert billing_endpoint.asked == ["gen-broken"]


@LOOPS
@pytest.mark.parametrize(("provider", "ends"), [("OpenAI", True), ("Amazon Bedrock", False), ("Unheard Of", None)])
def test_e03_the_trace_says_whether_a_stop_ends_the_billing(
    start_app: StartApp, loop: str, provider: str, ends: bool | None
) -> None:
    """It depends on the provider; an answer requested as one body is always billed in full."""
    script = answers("Hello.", generation="gen-1", provider=provider)
    usual = {"id": "gen-1", "provider": provider, "model": "openai/sim", "usage": USAGE}
    message = {"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}

    async def sim_app(exchange: Exchange) -> None:
        if exchange.asked.body.get("stream"):
            await script(exchange)
        else:
            await exchange.whole(200, json.dumps({**usual, "choices": [message]}).encode())

    app, _ = start_app(sim_app, settings={"tool_loop_v2": loop == "v2"}, extra_tools=[make_tool("bell")])
    for tools in ([], ["bell"]):
        heard = app.ask(tools=tools)
        [attempt] = app.client.get(f"/api/runs/{heard.events[0]['run_id']}").json()["attempts"]
        is_whole = loop == "legacy" and bool(tools)
        assert attempt["streamed"] is not is_whole
        assert attempt["stop_ends_billing"] is (False if is_whole else ends)


def test_f07_a_client_that_is_gone_before_its_stream_frees_its_place(start_app: StartApp) -> None:
    """With one slot, the next question is answered once the first client has disconnected."""
    app, upstream = start_app(holds, says("Hello."), settings={"signalbox_max_runs": 1})
    with app.asking(tools=[]) as response:
        run_id = response.headers["x-run-id"]
        assert app.post(prompt="Hello!", tools=[]).status_code == 503
        assert upstream.wait_until(lambda: len(upstream.asked) == 1)
    app.over(run_id)
    assert app.ask(tools=[]).done["status"] == "complete"
