"""F4: costs that the upstream reports late or never, through the whole app."""

import asyncio
from pathlib import Path

import pytest
from signalbox.runs import billing
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.quirks.billing_upstream import BILL, LOOPS, BillingEndpoint, HeldSettlements, answers, stopped
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import (
    Exchange,
    ScriptedUpstream,
    holds,
    no_models,
)


def test_f04_a_late_bill(start_app: StartApp) -> None:
    """The upstream knows the generation only at the third request."""
    billing_endpoint = BillingEndpoint(late=2, gen_scripted=BILL)
    app, _ = start_app(holds, models=billing_endpoint)
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
        [(generation_id, observed)] = simulator.state.generations.items()
        assert simulator.state.polls_left[generation_id] == 2
        held.settle()
        assert simulator.state.polls_left[generation_id] == 0
        trace = held.trace(run_id)
        assert (trace["cost"], trace["attempts"][0]["cancelled"]) == (observed["total_cost"], True)


def test_f04_a_bill_that_never_comes(start_app: StartApp) -> None:
    """The run stays estimated, and polling stops."""
    billing_endpoint = BillingEndpoint()
    app, _ = start_app(holds, models=billing_endpoint)
    held = HeldSettlements(app)
    run_id, _ = stopped(app, b"So far", tools=[])
    held.settle()
    after = held.trace(run_id)
    assert (after["cost"], after["cost_estimated"], after["settled_at"]) == (None, True, None)
    assert len(billing_endpoint.asked) == 8


def test_f04_a_run_that_told_all_is_not_asked_for(start_app: StartApp) -> None:
    """A run with a reported cost has no estimate and sends no billing request."""
    billing_endpoint = BillingEndpoint(gen_1=BILL)
    app, _ = start_app(answers("Hello.", generation="gen-1"), models=billing_endpoint)
    held = HeldSettlements(app)
    heard = app.ask(tools=[])
    assert heard.done["cost"] == 0.25
    assert "cost_estimated" not in heard.done
    held.settle()
    trace = held.trace(heard.events[0]["run_id"])
    assert (trace["cost_estimated"], trace["settled_at"], trace["attempts"][0]["settled"]) == (False, None, False)
    assert billing_endpoint.asked == []


def test_f04_a_direct_host_has_no_bills(start_app: StartApp) -> None:
    """A server without OpenRouter's extensions is not polled; the run stays estimated."""
    billing_endpoint = BillingEndpoint(gen_scripted=BILL)
    app, upstream = start_app(holds, models=billing_endpoint, path="/v1")
    assert app.parts.runs.settlements is None
    run_id, heard = stopped(app, b"So far", tools=[])
    assert heard.done["cost_estimated"] is True
    assert app.client.get(f"/api/runs/{run_id}").json()["cost_estimated"] is True
    assert not [asked for asked in upstream.catalogues if "generation" in asked.path]


def test_f04_a_shutdown_while_settling(start_app: StartApp) -> None:
    """A pending settlement neither delays the shutdown nor outlives it."""
    begun: list[bool] = []

    async def silent_office(exchange: Exchange) -> None:
        if "/generation" not in exchange.asked.path:
            await no_models(exchange)
            return
        exchange.upstream.notify(lambda: begun.append(True))
        await exchange.client_left()

    app, upstream = start_app(holds, models=silent_office)
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
