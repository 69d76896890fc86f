"""A cost limit per run ends it with the answer so far, by known costs and by an estimate while it streams."""

import json
import threading
from typing import Any

import pytest
from signalbox.chat import budget as budget_module
from signalbox.chat.budget import Budget
from signalbox.chat.loops.retry import Retry
from signalbox.chat.plan import ServerTerms, plan_of
from signalbox.core.ask import Ask, AskedLimits
from signalbox.core.catalog import Prices
from signalbox.core.codes import CODES, Code
from signalbox.core.messages import AssistantMessage, ToolCall
from signalbox.wire.openrouter.catalog import facts_of

from tests.scenarios.tool_loop.script import Called, Said, answers, calls
from tests.scenarios.tool_loop.script import says as plays
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of
from tests.support.scripted_upstream import DONE, Exchange, Script, ScriptedUpstream, chunk, sends
from tests.support.stream_reader import ParsedStream, check_stream

LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])
# A prompt costs nothing and a token of four letters one dollar, unless a test says otherwise.
DEAR = {"prompt": "0", "completion": "1"}
SUMS = Called("calculate", '{"expression": "6 * 7"}')
SENTENCE = f"{CODES[Code.BUDGET_REACHED].sentence} {CODES[Code.BUDGET_REACHED].todo}"


def listing(pricing: Any) -> Script:
    """Return a catalogue with one model at these prices."""
    entry = {"id": "openai/sim", "supported_parameters": ["tools"], "pricing": pricing}
    return sends(json.dumps({"data": [entry]}).encode(), kind="application/json")


def priced(
    start_app: StartApp, *scripts: Script, pricing: Any = DEAR, loop: str = "v2", **settings: Any
) -> tuple[RunningApp, ScriptedUpstream]:
    """Run an app whose one model has these prices."""
    return start_app(*scripts, models=listing(pricing), settings={"tool_loop_v2": loop == "v2", **settings})


def ended(heard: ParsedStream) -> tuple[str, str | None, list[str | None]]:
    """Return status, code and warnings of a run."""
    return heard.done["status"], heard.done.get("code"), heard.warnings


async def talks(exchange: Exchange) -> None:
    """Send words of eight letters until the client disconnects."""
    await exchange.head()
    for word in ("Anything", " at all "):
        await exchange.send_text(word)
    await exchange.gate_opened()
    await exchange.send_text("too much")
    await exchange.client_left()


REACHED = ("interrupted", "BUDGET_REACHED", ["BUDGET_REACHED"])


# --- by known costs ---


@LOOPS
def test_no_step_follows_once_the_money_is_spent(start_app: StartApp, loop: str) -> None:
    """Tool results stay, no further request is sent, and the cost is the reported one."""
    app, upstream = priced(start_app, calls(SUMS, text=("Let me see.",)), answers("42."), loop=loop, pricing=None)
    heard = app.ask("What is 6 * 7?", max_cost=0.001)
    assert ended(heard) == REACHED
    assert heard.of("warning")[0]["message"] == SENTENCE
    assert (heard.text, heard.result_codes()) == ("Let me see.", [None])
    assert (len(upstream.asked), heard.done["steps"]) == (1, 1)
    assert (heard.done["cost"], heard.done.get("cost_estimated")) == (0.001, None)


@LOOPS
def test_an_answer_that_took_all_the_money_is_an_answer(start_app: StartApp, loop: str) -> None:
    """A complete answer that exceeds the budget stays complete, and its cost is reported."""
    app, _ = priced(start_app, calls(SUMS), answers("42."), loop=loop, pricing=None)
    heard = app.ask("What is 6 * 7?", max_cost=0.0015)
    assert (*ended(heard), heard.text, heard.done["cost"]) == ("complete", None, [], "42.", 0.002)


@LOOPS
def test_a_conversation_goes_on_behind_it(start_app: StartApp, loop: str) -> None:
    """The next question includes the call and its result, and has a new budget."""
    app, upstream = priced(start_app, calls(SUMS), answers("42."), loop=loop, pricing=None)
    assert ended(app.ask("What is 6 * 7?", conversation_id="c1", max_cost=0.001)) == REACHED
    assert app.ask("Go on.", conversation_id="c1", max_cost=1.0).text == "42."
    told = upstream.asked[-1].body["messages"]
    assert [message["role"] for message in told] == ["user", "assistant", "tool", "user"]


@LOOPS
def test_a_question_that_costs_too_much_is_not_asked(start_app: StartApp, loop: str) -> None:
    """A first step over budget leaves nothing to continue, and the message does not offer it."""
    app, upstream = priced(start_app, answers("Hello."), loop=loop, pricing={"prompt": "0.004", "completion": "0"})
    heard = app.ask("x" * 1_000, tools=[], max_cost=0.5)
    assert (ended(heard), heard.done["steps"], len(upstream.asked)) == (REACHED, 0, 0)
    said = f"The prompt alone reaches the run's cost limit. {CODES[Code.BUDGET_REACHED].todo}"
    assert heard.of("warning")[0]["message"] == said


def test_a_failed_attempt_is_not_asked_again_without_money(start_app: StartApp, no_waiting: list[Retry]) -> None:
    """The estimate of a failed attempt counts, and no retry exceeds the budget."""
    breaks = sends(chunk({"role": "assistant"}))  # accepted, started, and cut before any text
    app, upstream = priced(start_app, breaks, answers("Hello."), pricing={"prompt": "0.004", "completion": "0"})
    asked: dict[str, Any] = {"prompt": "x" * 1_000, "tools": []}  # one dollar
    assert app.ask(**asked, max_cost=2.5).text == "Hello."
    app, upstream = priced(start_app, breaks, answers("Hello."), pricing={"prompt": "0.004", "completion": "0"})
    heard = app.ask(**asked, max_cost=1.5)
    assert (ended(heard), len(upstream.asked)) == (REACHED, 1)
    assert ("cost" in heard.done, heard.done["cost_estimated"]) == (False, True)
    assert len(no_waiting) == 2


def test_a_prompt_that_costs_too_much_is_not_sent(start_app: StartApp) -> None:
    """If the prompt alone exceeds the budget, no request is sent and nothing is spent."""
    app, upstream = priced(start_app, answers("Hello."), pricing={"prompt": "0.004", "completion": "0"})
    heard = app.ask("x" * 1_000, tools=[], max_cost=0.9)
    assert (ended(heard), upstream.asked, heard.done["steps"]) == (REACHED, [], 0)
    assert "cost_estimated" not in heard.done


# --- by an estimate, while it streams ---


@LOOPS
def test_a_stream_is_left_when_it_has_cost_too_much(start_app: StartApp, loop: str) -> None:
    """Text up to the limit is shown, the upstream is closed, and the cost is marked as estimated."""
    app, upstream = priced(start_app, talks, loop=loop)
    upstream.opened.set()
    heard = app.ask("Go", tools=[], max_cost=5.5)
    assert (ended(heard), heard.text) == (REACHED, "Anything at all too much")
    assert ("cost" in heard.done, heard.done["cost_estimated"]) == (False, True)
    assert upstream.wait_until(lambda: len(upstream.left) == 1)
    attempt = app.client.get(f"/api/runs/{heard.ids[0].partition(':')[0]}").json()["attempts"][0]
    assert (attempt["generation_id"], attempt["usage"]) == ("gen-scripted", None)  # so the final cost can be fetched


@pytest.mark.parametrize(
    "piece",
    [
        {"content": "abcd" * 3},
        {"reasoning": "abcd" * 3},
        {"refusal": "abcd" * 3},
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "calc", "arguments": '{"x":1}  '}}]},
    ],
    ids=lambda piece: next(iter(piece)),
)
def test_all_that_a_model_writes_counts(start_app: StartApp, piece: dict[str, Any]) -> None:
    """Text, reasoning, refusals and call arguments count alike; none of these calls is executed."""

    async def script(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send(chunk(piece))
        await exchange.client_left()

    app, _ = priced(start_app, script)
    heard = app.ask("Go", max_cost=3.0)
    assert (ended(heard), heard.of("tool_executing")) == (REACHED, [])


def test_what_ended_is_not_cut(start_app: StartApp) -> None:
    """After the finish reason only usage follows: the stream is read to its end, and the cost is reported."""
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.5}
    whole = sends(chunk({"content": "a" * 40}, finish="stop"), chunk({}, usage=usage) + DONE)
    app, _ = priced(start_app, whole)
    heard = app.ask("Go", tools=[], max_cost=1.0)
    assert (*ended(heard), heard.done["cost"]) == ("complete", None, [], 0.5)


def test_the_cost_of_earlier_steps_counts(start_app: StartApp) -> None:
    """A step may spend what earlier steps have left."""
    spent = plays(Said(calls=(SUMS,), text=("",)))  # 0.001, as reported
    app, _ = priced(start_app, spent, talks, pricing={"prompt": "0", "completion": "0.0001"})
    heard = app.ask("What is 6 * 7?", max_cost=0.00135)
    assert (ended(heard), heard.text) == (REACHED, "Anything at all ")
    assert (heard.done["cost"], heard.done["cost_estimated"]) == (0.001, True)


@pytest.mark.parametrize(
    "pricing", [None, {}, {"prompt": "-1", "completion": "-1"}, {"prompt": "free", "completion": "1"}, {"prompt": 0}]
)
def test_without_prices_nothing_is_guessed(start_app: StartApp, pricing: Any) -> None:
    """A stream without a known price continues to its end; a router's price is unknown before it selects a model."""
    app, _ = priced(start_app, answers("word " * 1_000), pricing=pricing)
    assert app.ask("Go", tools=[], max_cost=0.000001).done["status"] == "complete"
    ask = Ask(model="openai/sim", messages=(), limits=AskedLimits(max_cost=1.0))
    facts = facts_of({"id": "openai/sim", "pricing": pricing})
    assert facts is not None
    assert plan_of(ask, (), facts, ServerTerms()).budget == Budget(1.0, None)


def test_a_whole_answer_cannot_be_cut(start_app: StartApp) -> None:
    """The legacy loop's steps with tools arrive as one body and are shown whatever they cost."""
    app, _ = priced(start_app, answers("word " * 100), loop="legacy")
    heard = app.ask("Go", max_cost=0.0001)
    assert (heard.done["status"], len(heard.text)) == ("complete", 500)


# --- precedence ---


@pytest.mark.parametrize(("ceiling", "asked"), [(5.5, None), (5.5, 100.0), (100.0, 5.5)])
def test_the_smaller_limit_holds(start_app: StartApp, ceiling: float, asked: float | None) -> None:
    """A client can lower the operator's limit but not raise it."""
    app, upstream = priced(start_app, talks, signalbox_max_run_cost=ceiling)
    upstream.opened.set()
    assert ended(app.ask("Go", tools=[], **({"max_cost": asked} if asked else {}))) == REACHED


def test_by_default_a_run_may_cost_anything(start_app: StartApp) -> None:
    """Without a limit, costs are not checked."""
    app, _ = priced(start_app, answers("word " * 1_000))
    assert app.ask("Go", tools=[]).done["status"] == "complete"


@pytest.mark.parametrize("wrong", [0, -1, "1", True, None])
def test_a_budget_is_more_than_nothing(app: RunningApp, wrong: Any) -> None:
    """Zero is rejected by name; null means that no limit is given."""
    response = app.post(prompt="Hi", max_cost=wrong)
    assert response.status_code == (200 if wrong is None else 422)
    if wrong is not None:
        assert error_of(response)["field"] == "max_cost"


def test_it_goes_to_no_provider(start_app: StartApp) -> None:
    """The budget is in the trace but not in the upstream request."""
    app, upstream = priced(start_app, answers("Hello."))
    response = app.post(prompt="Hi", max_cost=50)
    assert check_stream(response.content).text == "Hello."
    assert "max_cost" not in upstream.asked[0].body
    run = app.client.get(f"/api/runs/{response.headers['x-run-id']}").json()
    assert run["request"]["max_cost"] == 50


@pytest.mark.anyio
@pytest.mark.parametrize(("length", "name"), [(10, "MainThread"), (100_000, "offload_0")])
async def test_a_long_prompt_is_priced_beside_the_loop(length: int, name: str, monkeypatch: pytest.MonkeyPatch):
    """Estimating a long conversation runs outside the event loop."""
    threads: list[str] = []
    length_of = budget_module.prompt_length

    def seen(*given: Any) -> int:
        threads.append(threading.current_thread().name)
        return length_of(*given)

    monkeypatch.setattr(budget_module, "prompt_length", seen)
    call = ToolCall("c1", "work", {"text": "x" * length})
    price = await Budget(1.0, Prices(1.0, 1.0)).price_of_prompt([AssistantMessage("", calls=(call,))], ())
    assert threads == [name]
    assert price > length / 4
