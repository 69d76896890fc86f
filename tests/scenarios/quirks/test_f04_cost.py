"""F4, E3: the cost of a run is known in the end, reported or not; through the whole app."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from signalbox.chat.loops.progress import Attempt
from signalbox.chat.loops.retry import Retry
from signalbox.core.parts import Served
from signalbox.runs import billing
from signalbox.simulator.http.server import BackgroundSimulator

from tests.support.fakes import make_tool
from tests.support.fixtures import Behind
from tests.support.running_app import RunningApp, read_until, settings_for
from tests.support.scripted_upstream import (
    DONE,
    Exchange,
    Script,
    ScriptedUpstream,
    call_chunk,
    chunk,
    holds,
    no_models,
    says,
    sends,
)
from tests.support.stream_reader import ParsedStream, check_stream

WAIT = 10.0
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.25}
BILL = {"native_tokens_prompt": 20, "native_tokens_completion": 7, "total_cost": 0.5, "provider_name": "Groq"}
READ = {"input": 20, "output": 7, "reasoning": 0, "cached": 0, "cost": 0.5}
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])


class HeldSettlements:
    """Holds the settlements of an app until the test releases them; after that none waits."""

    def __init__(self, app: RunningApp) -> None:
        self.app = app
        self.gate = asyncio.Event()
        assert app.parts.runs.settlements is not None
        self.settlements = app.parts.runs.settlements
        self.settlements.sleep = self._sleep

    async def _sleep(self, seconds: float) -> None:
        await self.gate.wait()

    def settle(self) -> None:
        """Release them, and wait until all are settled or given up."""
        self.app.call(self.gate.set)
        self.app.within(self.settlements.wait())

    def trace(self, run_id: str) -> dict[str, Any]:
        """Return a run's trace."""
        return self.app.client.get(f"/api/runs/{run_id}").json()


class BillingEndpoint:
    """The /generation of a scripted provider: costs by id, each after some 404s; `asked` are the requested ids."""

    def __init__(self, *, late: int = 0, **bills: dict[str, Any]) -> None:
        self.bills = {name.replace("_", "-"): bill for name, bill in bills.items()}
        self.late, self.asked = late, list[str]()

    async def __call__(self, exchange: Exchange) -> None:
        address = urlsplit(exchange.asked.path)
        if not address.path.endswith("/generation"):
            await no_models(exchange)
            return
        generation_id = parse_qs(address.query)["id"][0]
        self.asked.append(generation_id)
        if self.asked.count(generation_id) <= self.late or generation_id not in self.bills:
            await exchange.whole(404, b'{"error":{"code":404,"message":"Generation not found"}}')
            return
        bill = {"id": generation_id, **self.bills[generation_id]}
        await exchange.whole(200, json.dumps({"data": bill}).encode())


def answers(*texts: str, generation: str, **fields: Any) -> Script:
    """Answer with text and usage."""
    said = [chunk({"content": text}, id=generation, **fields) for text in texts]
    return sends(*said, chunk({}, finish="stop", id=generation, usage=USAGE, **fields) + DONE)


def stopped(app: RunningApp, after: bytes, **body: Any) -> tuple[str, ParsedStream]:
    """Send a question, stop its run once these bytes have arrived, and read to the end."""
    with app.asking(**body) as response:
        run_id = response.headers["x-run-id"]
        chunks = response.iter_raw()
        seen = read_until(chunks, after)
        assert app.client.post(f"/api/runs/{run_id}/stop").json()["stopped"] is True
        return run_id, check_stream(seen + b"".join(chunks))


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
    observed = simulator.memory.generations[attempt["generation_id"]]
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
def test_f04_a_stop_between_head_and_first_chunk(behind: Behind, monkeypatch: pytest.MonkeyPatch, loop: str) -> None:
    """The id in the head is known before the first byte, survives the stop, and is settled.

    The legacy loop requests one body here, whose billing no provider stops.
    """

    async def head_only(exchange: Exchange) -> None:
        await exchange.head(x_generation_id="gen-head")
        await exchange.client_left()

    headed = _heads(monkeypatch)
    billing_endpoint = BillingEndpoint(gen_head=BILL)
    tool = make_tool("bell")
    app, _ = behind(head_only, models=billing_endpoint, settings={"tool_loop_v2": loop == "v2"}, extra_tools=[tool])
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


def test_f04_steps_that_told_and_one_that_did_not(behind: Behind) -> None:
    """A run stopped in its second step has the first step's cost and the second's bill, each once."""

    async def speaks(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send(chunk({"content": "So far"}, id="gen-2"))
        await exchange.client_left()

    calls = sends(call_chunk("bell", "{}"), chunk({}, finish="tool_calls", id="gen-1", usage=USAGE) + DONE)
    billing_endpoint = BillingEndpoint(gen_2=BILL, gen_1=BILL, gen_scripted=BILL)
    app, _ = behind(calls, speaks, models=billing_endpoint, extra_tools=[make_tool("bell")])
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


def test_f04_attempts_of_a_retried_step_are_all_paid(behind: Behind, no_waiting: list[Retry]) -> None:
    """An attempt that failed before its first part is billed; a rejected request is not."""

    async def breaks(exchange: Exchange) -> None:
        await exchange.head(x_generation_id="gen-broken")

    async def refuses(exchange: Exchange) -> None:
        await exchange.whole(503, b'{"error":{"code":503,"message":"No instances"}}', x_generation_id="gen-refused")

    billing_endpoint = BillingEndpoint(gen_broken=BILL, gen_refused=BILL, gen_good=BILL)
    app, _ = behind(breaks, refuses, answers("Hello.", generation="gen-good"), models=billing_endpoint)
    held = HeldSettlements(app)
    heard = app.ask(tools=[])
    assert (heard.done["status"], heard.done["cost"], heard.done["cost_estimated"]) == ("complete", 0.25, True)
    held.settle()
    after = held.trace(heard.events[0]["run_id"])
    assert (after["cost"], after["cost_estimated"]) == (0.75, False)
    assert [attempt["generation_id"] for attempt in after["attempts"]] == ["gen-broken", None, "gen-good"]
    assert [attempt["code"] for attempt in after["attempts"]] == ["STREAM_CUT", "UPSTREAM_OVERLOADED", None]
    assert billing_endpoint.asked == ["gen-broken"]


def test_f04_a_late_bill(behind: Behind) -> None:
    """The upstream knows the generation only at the third request."""
    billing_endpoint = BillingEndpoint(late=2, gen_scripted=BILL)
    app, _ = behind(holds, models=billing_endpoint)
    held = HeldSettlements(app)
    run_id, _ = stopped(app, b"So far", tools=[])
    held.settle()
    assert held.trace(run_id)["cost"] == 0.5
    assert billing_endpoint.asked == ["gen-scripted"] * 3


def test_f04_the_simulators_late_bill(tmp_path: Path) -> None:
    """The same with the simulator's model: two 404s, then the cost of what was sent."""
    with (
        BackgroundSimulator(pace=0.05) as simulator,
        RunningApp(settings_for(tmp_path, openrouter_base_url=simulator.base_url)) as app,
    ):
        held = HeldSettlements(app)
        run_id, heard = stopped(app, b'"content"', model="openai/sim-late-bill", prompt="Hello!", tools=[])
        assert (heard.done["status"], heard.done["cost_estimated"]) == ("cancelled", True)
        assert simulator.wait_until(lambda memory: not memory.unfinished)
        [(generation_id, observed)] = simulator.memory.generations.items()
        assert simulator.memory.polls_left[generation_id] == 2
        held.settle()
        assert simulator.memory.polls_left[generation_id] == 0
        trace = held.trace(run_id)
        assert (trace["cost"], trace["attempts"][0]["cancelled"]) == (observed["total_cost"], True)


def test_f04_a_bill_that_never_comes(behind: Behind) -> None:
    """The run stays estimated, and polling stops."""
    billing_endpoint = BillingEndpoint()
    app, _ = behind(holds, models=billing_endpoint)
    held = HeldSettlements(app)
    run_id, _ = stopped(app, b"So far", tools=[])
    held.settle()
    after = held.trace(run_id)
    assert (after["cost"], after["cost_estimated"], after["settled_at"]) == (None, True, None)
    assert len(billing_endpoint.asked) == 8


def test_f04_a_run_that_told_all_is_not_asked_for(behind: Behind) -> None:
    """A run with a reported cost has no estimate and sends no billing request."""
    billing_endpoint = BillingEndpoint(gen_1=BILL)
    app, _ = behind(answers("Hello.", generation="gen-1"), models=billing_endpoint)
    held = HeldSettlements(app)
    heard = app.ask(tools=[])
    assert heard.done["cost"] == 0.25
    assert "cost_estimated" not in heard.done
    held.settle()
    trace = held.trace(heard.events[0]["run_id"])
    assert (trace["cost_estimated"], trace["settled_at"], trace["attempts"][0]["settled"]) == (False, None, False)
    assert billing_endpoint.asked == []


def test_f04_a_direct_host_has_no_bills(behind: Behind) -> None:
    """A server without OpenRouter's extensions is not polled; the run stays estimated."""
    billing_endpoint = BillingEndpoint(gen_scripted=BILL)
    app, upstream = behind(holds, models=billing_endpoint, path="/v1")
    assert app.parts.runs.settlements is None
    run_id, heard = stopped(app, b"So far", tools=[])
    assert heard.done["cost_estimated"] is True
    assert app.client.get(f"/api/runs/{run_id}").json()["cost_estimated"] is True
    assert not [asked for asked in upstream.catalogues if "generation" in asked.path]


def test_f04_a_shutdown_while_settling(behind: Behind) -> None:
    """A pending settlement neither delays the shutdown nor outlives it."""
    begun: list[bool] = []

    async def silent_office(exchange: Exchange) -> None:
        if "/generation" not in exchange.asked.path:
            await no_models(exchange)
            return
        exchange.upstream.notify(lambda: begun.append(True))
        await exchange.client_left()

    app, upstream = behind(holds, models=silent_office)
    held = HeldSettlements(app)
    asking, _ = stopped(app, b"So far", tools=[])
    app.call(held.gate.set)
    assert upstream.wait_until(lambda: bool(begun))
    app.call(held.gate.clear)
    waiting, _ = stopped(app, b"So far", tools=[])
    assert sorted(_tasks(app)) == sorted([f"bill {asking}", f"bill {waiting}"])
    app.within(app.parts.runs.aclose())
    assert _tasks(app) == []
    assert upstream.wait_until(lambda: any("generation" in asked.path for asked in upstream.left))
    assert held.trace(asking)["cost_estimated"] is True


@LOOPS
def test_f04_a_bill_outlives_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loop: str) -> None:
    """A server that stopped before the bill polls for it after its restart and stores it."""
    billing_endpoint = BillingEndpoint()
    with ScriptedUpstream(holds, models=billing_endpoint) as upstream:
        settings = settings_for(tmp_path, openrouter_base_url=upstream.base_url, tool_loop_v2=loop == "v2")
        with RunningApp(settings) as app:
            HeldSettlements(app)
            run_id, heard = stopped(app, b"So far", tools=[])
        assert heard.done["cost_estimated"] is True
        billing_endpoint.bills["gen-scripted"] = BILL
        monkeypatch.setattr(billing, "WAITS", (0.0, 0.0))
        with RunningApp(settings) as again:
            assert again.parts.runs.settlements is not None
            again.within(again.parts.runs.settlements.wait())
            again.within(again.parts.runs.store.flush())
            observed = again.client.get(f"/api/runs/{run_id}").json()
            assert (observed["cost"], observed["cost_estimated"]) == (0.5, False)
        with RunningApp(settings) as later:
            assert later.client.get(f"/api/runs/{run_id}").json() == observed
    assert billing_endpoint.asked == ["gen-scripted"]
    assert len(upstream.asked) == 1


def _tasks(app: RunningApp) -> list[str]:
    return app.call(lambda: [t.get_name() for t in asyncio.all_tasks() if t.get_name().startswith("bill ")])


@LOOPS
@pytest.mark.parametrize(("provider", "ends"), [("OpenAI", True), ("Amazon Bedrock", False), ("Unheard Of", None)])
def test_e03_the_trace_says_whether_a_stop_ends_the_billing(
    behind: Behind, loop: str, provider: str, ends: bool | None
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

    app, _ = behind(sim_app, settings={"tool_loop_v2": loop == "v2"}, extra_tools=[make_tool("bell")])
    for tools in ([], ["bell"]):
        heard = app.ask(tools=tools)
        [attempt] = app.client.get(f"/api/runs/{heard.events[0]['run_id']}").json()["attempts"]
        is_whole = loop == "legacy" and bool(tools)
        assert attempt["streamed"] is not is_whole
        assert attempt["stop_ends_billing"] is (False if is_whole else ends)


def test_f07_a_client_that_is_gone_before_its_stream_frees_its_place(behind: Behind) -> None:
    """With one slot, the next question is answered once the first client has disconnected."""
    app, upstream = behind(holds, says("Hello."), settings={"signalbox_max_runs": 1})
    with app.asking(tools=[]) as response:
        run_id = response.headers["x-run-id"]
        assert app.post(prompt="Hello!", tools=[]).status_code == 503
        assert upstream.wait_until(lambda: len(upstream.asked) == 1)
    app.over(run_id)
    assert app.ask(tools=[]).done["status"] == "complete"
