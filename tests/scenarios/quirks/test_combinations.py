"""Quirks in combination: one degradation after another, and invalid client input beside them."""

import json
from typing import Any

import pytest

from tests.scenarios.quirks.assertions import body_of, is_whole
from tests.scenarios.quirks.sim_runs import (
    Asker,
    Body,
    call,
    calls,
    calls_either,
    refuses,
    result,
    says_either,
    scripted,
    user,
)
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import DONE, Exchange, Script, chunk, sends

HEADER = {"signalbox_allow_loop_header": True}
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])
IMAGE: Body = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def affords(most: int) -> Script:
    """Reject a request that the account cannot pay."""
    return refuses(402, f"You requested up to 9000 tokens, but can only afford {most}.")


def thinks(*, usage: Body | None = None, finish: str = "length", **ending: Any) -> Script:
    """Send reasoning up to the limit, and no text."""
    observed: Body = {"usage": usage} if usage else {}

    async def script(exchange: Exchange) -> None:
        if is_whole(exchange):
            said = json.loads(body_of({"reasoning": "Hm."}, finish_reason=finish, **ending))
            await exchange.whole(200, json.dumps(said | observed).encode())
            return
        last = chunk({}, choices=[{"index": 0, "delta": {}, "finish_reason": finish, **ending}], **observed)
        await sends(chunk({"reasoning": "Hm."}), last, DONE)(exchange)

    return script


@LOOPS
def test_f03_b08_no_room_is_promised_that_cannot_be_paid(start_app: StartApp, loop: str) -> None:
    """A clamped answer with only reasoning ends the run, since a retry could not have a higher limit."""
    app, upstream = start_app(
        affords(1000), thinks(usage={"completion_tokens": 950}), says_either("Done."), settings=HEADER
    )
    observed = scripted(app, upstream.asked, loop, max_tokens=9000)
    assert observed.status == ("length", "REASONING_LENGTH")
    assert observed.heard.warnings == ["CREDIT_CLAMP", "REASONING_LENGTH"]
    assert [body["max_tokens"] for body in observed.requests] == [9000, 950]


@LOOPS
def test_f03_b08_less_thinking_is_still_tried(start_app: StartApp, loop: str) -> None:
    """If the effort can be lowered, a retry with the clamped limit follows."""
    app, upstream = start_app(
        affords(1000), thinks(usage={"completion_tokens": 950}), says_either("Done."), settings=HEADER
    )
    observed = scripted(app, upstream.asked, loop, max_tokens=9000, reasoning={"effort": "high"})
    assert observed.status == ("complete", None)
    assert [body["reasoning"] for body in observed.requests] == [
        {"effort": "high"},
        {"effort": "high"},
        {"effort": "low"},
    ]


@LOOPS
@pytest.mark.parametrize(("most", "reasoning"), [(1000, {"enabled": False}), (4000, {"max_tokens": 2776})])
def test_f03_b08_a_budget_fits_the_clamped_limit(start_app: StartApp, loop: str, most: int, reasoning: Body) -> None:
    """A thinking budget is lowered below the clamped max_tokens, as Claude requires."""
    app, upstream = start_app(affords(most), says_either("Done."), settings=HEADER)
    asked: Body = {"model": "anthropic/sim", "max_tokens": 9000, "reasoning": {"max_tokens": 5000}}
    observed = scripted(app, upstream.asked, loop, **asked)
    assert observed.requests[-1]["max_tokens"] == int(most * 0.95)
    assert observed.requests[-1]["reasoning"] == reasoning


@LOOPS
def test_b08_more_room_without_known_usage(start_app: StartApp, loop: str) -> None:
    """Without a limit and usage, the retry requests a large limit."""
    app, upstream = start_app(thinks(), says_either("Done."), settings=HEADER)
    observed = scripted(app, upstream.asked, loop)
    assert observed.status == ("complete", None)
    assert [body.get("max_tokens") for body in observed.requests] == [None, 8192]


@LOOPS
@pytest.mark.parametrize("effort", ["none", "minimal", "low"])
def test_b08_more_room_is_no_more_thinking(start_app: StartApp, loop: str, effort: str) -> None:
    """The retry uses no more effort than the client asked for."""
    app, upstream = start_app(thinks(usage={"completion_tokens": 950}), says_either("Done."), settings=HEADER)
    observed = scripted(app, upstream.asked, loop, reasoning={"effort": effort}, tool_choice="required")
    assert [body["reasoning"] for body in observed.requests] == [{"effort": effort}] * 2


@LOOPS
def test_a13_a_corrected_step_is_forced_like_the_first(start_app: StartApp, loop: str) -> None:
    """A malformed forced call is forced again, then no longer."""
    malformed = thinks(finish="stop", native_finish_reason="MALFORMED_FUNCTION_CALL")
    clock = calls_either("get_current_time", "{}")
    app, upstream = start_app(malformed, clock, says_either("Done."), settings=HEADER)
    observed = scripted(app, upstream.asked, loop, tool_choice="required")
    assert observed.status == ("complete", None)
    assert [body["tool_choice"] for body in observed.requests] == ["required", "required", "auto"]


@pytest.mark.parametrize("later", [{"prompt_tokens": 0}, {"prompt_tokens": 3, "completion_tokens": 4}])
def test_f04_a_later_report_without_a_price(start_app: StartApp, later: Body) -> None:
    """A later usage chunk without a cost does not remove a reported cost."""
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "cost": 0.5}
    told_twice = chunk({}, finish="stop", usage=usage) + chunk({}, choices=[], usage=later)
    app, upstream = start_app(sends(chunk({"content": "Done."}), told_twice, DONE))
    observed = scripted_v2(app, upstream.asked)
    assert observed["cost"] == 0.5
    assert observed["usage"] == {"input": 3, "output": 4}


def scripted_v2(app: Any, asked: Any) -> Body:
    """Send a question on the V2 loop; return its `done` event."""
    return scripted(app, asked, "v2").heard.done


@pytest.mark.parametrize("family", ["anthropic", "moonshotai", "mistralai", "qwen", "deepseek"])
def test_c04_instructions_in_parts(ask_sim: Asker, family: str) -> None:
    """Blank parts of a system message are left out, and images for models that cannot read them."""
    parts = [{"type": "text", "text": ""}, {"type": "text", "text": "Be brief."}, IMAGE]
    observed = ask_sim(f"{family}/sim", messages=[{"role": "system", "content": parts}, user("Hello!")])
    assert observed.status == ("complete", None)
    assert set(observed.statuses) == {200}


@pytest.mark.parametrize("family", ["moonshotai", "deepseek", "anthropic"])
def test_b05_a_loop_that_the_client_runs(ask_sim: Asker, family: str) -> None:
    """A history that ends with a result is an open loop without reasoning, and the run warns."""
    messages = [user("How does the tool loop work?"), calls(call("call_1")), result("call_1")]
    observed = ask_sim(f"{family}/sim", messages=messages, reasoning={"effort": "low"})
    assert observed.status == ("complete", None)
    assert set(observed.statuses) == {200}


def test_b02_f06_a_fallback_behind_a_pinned_host(ask_sim: Asker) -> None:
    """If the pinned provider is gone, the fallback receives the loop as text."""
    observed = ask_sim("google/sim-quirk-b02-gone", models=["moonshotai/sim"])
    assert observed.status == ("complete", None)


@LOOPS
def test_c02_d03_a_call_without_tools(start_app: StartApp, loop: str) -> None:
    """A call after tools were dropped is not announced, and the model is asked to answer."""
    no_tools = refuses(404, "No endpoints found that support tool use.")
    clock = calls_either("get_current_time", "{}")
    app, upstream = start_app(clock, no_tools, clock, says_either("Done."), settings=HEADER)
    observed = scripted(app, upstream.asked, loop)
    assert observed.status == ("complete", None)
    assert observed.heard.result_codes() == [None]
    assert observed.heard.text == "Done."
