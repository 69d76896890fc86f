"""Answers of the Messages API: events, blocks, stop reasons, usage, models."""

from typing import Any

import httpx
import pytest
from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.simulator.native.anthropic import accents

from tests.conftest import ROOT
from tests.unit.simulator.native.anthropic.conversation import (
    THINKING,
    answered,
    ask,
    assistant,
    events_in,
    post,
    results_of,
    user,
)

QUESTION = "Search for replay, then calculate 2+2"
BOTH_WAYS = pytest.mark.parametrize("stream", [True, False])


def test_the_tables_name_every_accent() -> None:
    """The table of the docstring and that of the documentation have the same ids as the code."""
    page = (ROOT / "docs/simulator.md").read_text(encoding="utf-8").partition("### Anthropic Messages")[2]
    rows = [line.split("|")[1].strip("` ") for line in page.partition("###")[0].splitlines() if line.startswith("| `")]
    documented = [line.split("|")[1].strip() for line in (accents.__doc__ or "").splitlines() if "| sim-" in line]
    assert rows == documented == [f"sim-{name}" for name in accents.ACCENTS]


def kinds(message: dict[str, Any]) -> list[str]:
    """Return the types of the blocks."""
    return [block["type"] for block in message["content"]]


def test_the_order_of_events(claude: httpx.Client) -> None:
    """Blocks are opened, filled and closed one after the other; a ping follows the first opening."""
    response = post(claude, ask("sim", "What is 17 * 23?", stream=True, thinking=THINKING))
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    names = [name for name, _ in events_in(response.text)]
    assert names[:3] == ["message_start", "content_block_start", "ping"]
    assert names[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    deltas = [data["delta"]["type"] for name, data in events_in(response.text) if name == "content_block_delta"]
    assert list(dict.fromkeys(deltas)) == ["thinking_delta", "signature_delta", "text_delta", "input_json_delta"]
    pieces = [data["delta"] for name, data in events_in(response.text) if name == "content_block_delta"]
    assert next(piece for piece in pieces if "partial_json" in piece)["partial_json"] == ""


@BOTH_WAYS
def test_a_tool_loop_with_thinking(claude: httpx.Client, stream: bool) -> None:
    """Every step is accepted with its blocks sent back, until the answer; each step has its own signature."""
    body = ask("claude-sonnet-4-5-20250929", QUESTION, stream=stream, thinking=THINKING)
    message = answered(claude, body)
    signatures = [message["content"][0]["signature"]]
    while message["stop_reason"] == "tool_use" and len(signatures) < 5:
        back = [assistant(*message["content"]), results_of(message["content"])]
        body = {**body, "messages": [*body["messages"], *back]}
        message = answered(claude, body)
        signatures.append(message["content"][0]["signature"])
    assert message["stop_reason"] == "end_turn"
    assert kinds(message) == ["thinking", "text"]
    assert "391" in message["content"][1]["text"]
    assert len(set(signatures)) == len(signatures) == 3


def test_streamed_and_whole_answers_are_equal(claude: httpx.Client) -> None:
    """Except for ids, which differ between requests."""
    body = ask("sim", "Search for the tool loop", thinking=THINKING)
    whole, streamed = answered(claude, body), answered(claude, {**body, "stream": True})
    for message in (whole, streamed):
        message["id"] = message["content"][-1]["id"] = ""
    assert streamed == whole
    assert list(streamed) == list(whole)


@pytest.mark.parametrize(
    ("model", "reason", "content"),
    [
        ("sim-empty", "end_turn", []),
        ("sim-length", "max_tokens", ["text"]),
        ("sim-refusal", "refusal", []),
        ("sim-filter", "refusal", ["text"]),
        ("sim-parallel", "tool_use", ["tool_use"] * 3),
        ("sim-window", "model_context_window_exceeded", ["text", "tool_use"]),
        ("sim-pause", "pause_turn", ["server_tool_use"]),
        ("sim-quirk-d02", "tool_use", ["tool_use"]),
    ],
)
@BOTH_WAYS
def test_stop_reasons(claude: httpx.Client, model: str, reason: str, content: list[str], stream: bool) -> None:
    """Every ending has its own stop reason."""
    message = answered(claude, ask(model, "Search for the tool loop", stream=stream))
    assert (message["stop_reason"], kinds(message)) == (reason, content)
    assert (message["stop_details"] is not None) == (reason == "refusal")


@BOTH_WAYS
def test_a_stop_sequence(claude: httpx.Client, stream: bool) -> None:
    """The answer names the sequence that ended it."""
    body = ask("sim", "What can you do?", tools=None, stop_sequences=["never", "I"], stream=stream)
    message = answered(claude, body)
    assert (message["stop_reason"], message["stop_sequence"]) == ("stop_sequence", "I")


def test_a_cut_call_has_no_end(claude: httpx.Client) -> None:
    """The last block of a call that max_tokens cut is not closed, and its arguments are not JSON."""
    events = list(events_in(post(claude, ask("sim-length-tool", "Search for the loop", stream=True)).text))
    assert [name for name, _ in events][-3:] == ["content_block_delta", "message_delta", "message_stop"]
    assert events[-2][1]["delta"]["stop_reason"] == "max_tokens"
    assert answered(claude, ask("sim-length-tool", "Search for the loop"))["content"][-1]["input"] == {}


def test_thinking_only_on_request(claude: httpx.Client) -> None:
    """Thinking is off by default; `omitted`, the default of newer models, leaves the signature alone."""
    assert "thinking" not in kinds(answered(claude, ask("sim", QUESTION)))
    shown = {"type": "adaptive", "display": "omitted"}
    block = answered(claude, ask("sim", QUESTION, thinking=shown, stream=True))["content"][0]
    assert (block["type"], block["thinking"]) == ("thinking", "")
    assert block["signature"]
    newer = answered(claude, ask("claude-opus-4-8", QUESTION, thinking={"type": "adaptive"}))["content"][0]
    assert (newer["type"], newer["thinking"]) == ("thinking", "")


def test_redacted_thinking_comes_back(claude: httpx.Client) -> None:
    """Encrypted thinking is verified like signed thinking."""
    body = ask("sim-redacted", QUESTION, thinking=THINKING)
    message = answered(claude, body)
    assert kinds(message)[0] == "redacted_thinking"
    back = [assistant(*message["content"]), results_of(message["content"])]
    assert answered(claude, {**body, "messages": [*body["messages"], *back]})["stop_reason"] == "tool_use"


def test_a_paused_turn_continues(claude: httpx.Client) -> None:
    """A request that ends with the paused answer gets the rest."""
    body = ask("sim-pause", "Search for the tool loop")
    paused = answered(claude, body)
    message = answered(claude, {**body, "messages": [*body["messages"], assistant(*paused["content"])]})
    assert kinds(message)[0] == "web_search_tool_result"
    assert message["stop_reason"] == "end_turn"


@BOTH_WAYS
def test_server_tools_and_citations(claude: httpx.Client, stream: bool) -> None:
    """A search of the API itself is no call for the client; the sentence cites its source."""
    message = answered(claude, ask("sim-server-search", "Search for the tool loop", stream=stream))
    assert kinds(message)[:3] == ["server_tool_use", "web_search_tool_result", "text"]
    assert message["content"][2]["citations"][0]["url"] == "https://example.org/7"
    assert message["stop_reason"] == "end_turn"


def test_forced_and_forbidden_calls(claude: httpx.Client) -> None:
    """The choice of tools is followed."""
    named = answered(claude, ask("sim", "Hello", tool_choice={"type": "tool", "name": "calculate"}))
    assert [block["name"] for block in named["content"] if block["type"] == "tool_use"] == ["calculate"]
    assert "tool_use" not in kinds(answered(claude, ask("sim", QUESTION, tool_choice={"type": "none"})))
    one = {"type": "auto", "disable_parallel_tool_use": True}
    assert (
        kinds(answered(claude, ask("sim", "What is 1 + 1, and what is 2 + 3?", tool_choice=one))).count("tool_use") == 1
    )


def test_the_prompt_cache(claude: httpx.Client) -> None:
    """A marked prefix is written once and read afterwards, until a byte of it changes."""
    system = [{"type": "text", "text": "Be brief. " * 600, "cache_control": {"type": "ephemeral"}}]
    first, second = (answered(claude, ask("sim", "Hello", system=system))["usage"] for _ in range(2))
    assert first["cache_creation_input_tokens"] == second["cache_read_input_tokens"] > 1024
    assert first["cache_read_input_tokens"] == second["cache_creation_input_tokens"] == 0
    changed = [{**system[0], "text": "Be long. " + system[0]["text"]}]
    assert answered(claude, ask("sim", "Hello", system=changed))["usage"]["cache_read_input_tokens"] == 0


def test_unknown_blocks_and_events(claude: httpx.Client) -> None:
    """`sim-unknown` sends types that no client knows, beside an ordinary answer."""
    text = post(claude, ask("sim-unknown", "What is 17 * 23?", stream=True)).text
    names = [name for name, _ in events_in(text)]
    assert "unheard_of_event" in names
    assert "unheard_of_delta" in text


def test_models(claude: httpx.Client) -> None:
    """The list has pages and, for tests, the ids of faults; a model has an entry."""
    first = claude.get("/v1/models", params={"limit": 3}).json()
    assert (len(first["data"]), first["has_more"]) == (3, True)
    rest = claude.get("/v1/models", params={"after_id": first["last_id"], "limit": 1000}).json()
    assert rest["has_more"] is False
    listed = {model["id"]: model for model in rest["data"]}
    assert {"sim-cut", "sim-error-529", "sim-pause", "sim-quirk-d02"} < set(listed)
    assert "sim-quirk-a01" not in listed
    assert claude.get("/v1/models/sim").json() == listed["sim"]
    assert claude.get("/v1/models/other").status_code == 404


def test_capabilities(claude: httpx.Client) -> None:
    """An entry says how a model may think, as the requests that it accepts show."""
    models = {model["id"]: model for model in claude.get("/v1/models", params={"limit": 1000}).json()["data"]}
    newer, older = (models[name]["capabilities"] for name in ("claude-opus-4-8", "claude-haiku-4-5-20251001"))
    assert [newer["thinking"]["types"][kind]["supported"] for kind in ("adaptive", "enabled")] == [True, False]
    assert [older["thinking"]["types"][kind]["supported"] for kind in ("adaptive", "enabled")] == [False, True]
    assert (newer["effort"]["xhigh"]["supported"], older["effort"]["supported"]) == (True, False)
    assert models["claude-opus-4-8"]["line"] == "opus"


def test_counting_tokens(claude: httpx.Client) -> None:
    """The count needs no max_tokens, and is the prompt's."""
    body = ask("sim", "Hello")
    count = claude.post("/v1/messages/count_tokens", json={k: v for k, v in body.items() if k != "max_tokens"}).json()
    assert count == {"input_tokens": answered(claude, body)["usage"]["input_tokens"]}


def test_requests_are_recorded(claude: httpx.Client, simulator: BackgroundSimulator) -> None:
    """Tests find the request in the simulator's record, and the key is not stored."""
    answered(claude, ask("sim", user("A question to find")["content"][0]["text"]))
    received = simulator.state.requests[-1]
    assert (received.path, received.authorized, received.status) == ("/anthropic/v1/messages", True, 200)
