"""Each fault does what its row in the table says."""

import json
from typing import Any

import httpx
import pytest
from signalbox.simulator.faults import scripted
from signalbox.simulator.http.server import BackgroundSimulator

from tests.unit.simulator.requests import FAMILIES, ask, result, run_tool
from tests.unit.simulator.slow_decoder import Decoded, assistant_message, decode

QUESTION = "Search for the tool loop"
HISTORY_CALL = {
    "id": "abcdefghi",
    "type": "function",
    "function": {"name": "search_web", "arguments": '{"query": "x"}'},
}


def stream(client: httpx.Client, fault: str, family: str = "openai", **fields: Any) -> Decoded:
    """Post a stream request to a faulty model and read the answer."""
    response = client.post("/chat/completions", json=ask(f"{family}/{fault}", QUESTION, **fields))
    assert response.status_code == 200, response.text
    return decode(response.content)


def collect(response: httpx.Response, into: bytearray) -> None:
    """Read a body as far as it comes."""
    for chunk in response.iter_raw():
        into.extend(chunk)


def queries(decoded: Decoded) -> list[str]:
    """Give the queries of the searches."""
    return [json.loads(call["arguments"])["query"] for call in decoded.calls]


def test_the_table_names_every_fault() -> None:
    """The table in the docstring and the code have the same faults."""
    documented = {
        line.split("|")[1].strip() for line in (scripted.__doc__ or "").splitlines() if line.startswith("| sim-")
    }
    known = {f"sim-{name}" for name in (*scripted.WIRE_FAULTS, *scripted.TURNS)}
    assert {name.removesuffix("-N") for name in documented} == known
    assert all(scripted.fault_of(f"openai/{name}") for name in scripted.example_ids())


@pytest.mark.parametrize("status", scripted.ERROR_CODES)
@pytest.mark.parametrize("streamed", [True, False])
def test_http_errors(client: httpx.Client, status: int, streamed: bool) -> None:
    """A stream request too gets the status and OpenRouter's error body."""
    response = client.post("/chat/completions", json=ask(f"openai/sim-error-{status}", QUESTION, stream=streamed))
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    assert response.json()["error"]["code"] == status


def test_rate_limits_end_in_milliseconds(client: httpx.Client) -> None:
    """A 429 has no Retry-After; its body has the end of the limit (quirk F1)."""
    response = client.post("/chat/completions", json=ask("openai/sim-error-429", QUESTION))
    assert "retry-after" not in response.headers
    assert int(response.json()["error"]["metadata"]["headers"]["X-RateLimit-Reset"]) > 10**12


def test_fallback_model_answers_after_an_error(client: httpx.Client) -> None:
    """With `models`, the next model answers after an error, under its own id."""
    body = ask("openai/sim-error-502", QUESTION, models=["openai/sim-error-502", "deepseek/sim"])
    assert decode(client.post("/chat/completions", json=body).content).chunks[0]["model"] == "deepseek/sim"


def test_json_error_in_a_200(client: httpx.Client) -> None:
    """A stream request gets a 200 with a JSON error body."""
    response = client.post("/chat/completions", json=ask("openai/sim-json-error", QUESTION))
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.json()["error"]["code"] == 429


@pytest.mark.parametrize("family", FAMILIES)
def test_midstream_error(client: httpx.Client, family: str) -> None:
    """After some text, a chunk has a top-level error and finish `error`."""
    decoded = stream(client, "sim-midstream-error", family, tools=None)
    assert decoded.error is not None
    assert decoded.error["code"] == 502
    assert decoded.finishes == ["error"]
    assert decoded.content


@pytest.mark.parametrize("family", FAMILIES)
def test_cut_closes_the_connection(client: httpx.Client, family: str) -> None:
    """The body is incomplete, and there is no finish reason."""
    read = bytearray()
    body = ask(f"{family}/sim-cut", QUESTION)
    with client.stream("POST", "/chat/completions", json=body) as response, pytest.raises(httpx.RemoteProtocolError):
        collect(response, read)
    assert read
    assert b"[DONE]" not in read
    assert not decode(bytes(read)).finishes


@pytest.mark.parametrize("size", [1, 100, 777])
def test_cut_after_a_byte(client: httpx.Client, size: int) -> None:
    """The connection closes after exactly N bytes."""
    read = bytearray()
    body = ask(f"openai/sim-cut-{size}", QUESTION)
    with client.stream("POST", "/chat/completions", json=body) as response, pytest.raises(httpx.RemoteProtocolError):
        collect(response, read)
    assert len(read) == size


@pytest.mark.parametrize("family", FAMILIES)
def test_no_done(client: httpx.Client, family: str) -> None:
    """The stream has text, finish and usage, but no `[DONE]`."""
    read = bytearray()
    with client.stream("POST", "/chat/completions", json=ask(f"{family}/sim-no-done", "Hello!")) as response:
        collect(response, read)
    assert b"[DONE]" not in read
    assert decode(bytes(read)).finishes


def test_drip(client: httpx.Client) -> None:
    """Small writes split frames anywhere, but lose nothing."""
    read = bytearray()
    with client.stream("POST", "/chat/completions", json=ask("google/sim-drip", "Hello!")) as response:
        collect(response, read)
    assert decode(bytes(read)).content
    assert decode(bytes(read)).finishes


def test_faults_are_listed_but_hidden(client: httpx.Client) -> None:
    """The catalogue lists every fault as hidden."""
    listed = {entry["id"]: entry.get("hidden", False) for entry in client.get("/models").json()["data"]}
    assert listed["openai/sim"] is False
    assert {name for name, hidden in listed.items() if hidden} >= {
        "openai/sim-cut",
        "qwen/sim-drip",
        "x-ai/sim-error-429",
    }


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "mistralai"])
def test_cut_after_complete_calls(client: httpx.Client, family: str) -> None:
    """The calls are complete, but there is no finish reason."""
    read = bytearray()
    body = ask(f"{family}/sim-cut-tool", QUESTION)
    with client.stream("POST", "/chat/completions", json=body) as response, pytest.raises(httpx.RemoteProtocolError):
        collect(response, read)
    decoded = decode(bytes(read))
    assert queries(decoded) == ["tool loop"]
    assert not decoded.finishes


def test_eof(client: httpx.Client) -> None:
    """The stream ends in the middle of the text, without a transport error."""
    decoded = stream(client, "sim-eof")
    assert decoded.content
    assert (decoded.finishes, decoded.done) == ([], False)


def test_done_only(client: httpx.Client) -> None:
    """The stream is only `[DONE]`."""
    assert client.post("/chat/completions", json=ask("qwen/sim-done-only", QUESTION)).content == b"data: [DONE]\n\n"


def test_stall(simulator: BackgroundSimulator) -> None:
    """After some chunks nothing follows, and the simulator notices that the client disconnects."""
    body = ask("openai/sim-stall", QUESTION)
    with httpx.Client(base_url=simulator.base_url, timeout=0.2, verify=False) as impatient:
        request = impatient.build_request("POST", "/chat/completions", json=body)
        response = impatient.send(request, stream=True)
        received = simulator.state.requests[-1]
        assert simulator.app.state.open_streams == 1
        with pytest.raises(httpx.ReadTimeout):
            response.read()
    assert simulator.wait_until(lambda state: state.open_streams == 0)
    assert simulator.app.state.open_streams == 0
    assert received.closed_early is True


def test_malformed_frame(client: httpx.Client) -> None:
    """Exactly one data line is not JSON."""
    body = client.post("/chat/completions", json=ask("google/sim-malformed", QUESTION)).content
    lines = [line[6:] for line in body.split(b"\n") if line.startswith(b"data: {")]
    broken = [line for line in lines if not line.endswith(b"}")]
    assert len(broken) == 1
    with pytest.raises(json.JSONDecodeError):
        json.loads(broken[0])


@pytest.mark.parametrize("fault", ["sim-cut", "sim-cut-tool", "sim-eof", "sim-malformed", "sim-done-only"])
def test_faults_of_answers_that_are_not_streamed(client: httpx.Client, fault: str) -> None:
    """The body of an answer that is not streamed is incomplete or not JSON."""
    try:
        content = client.post("/chat/completions", json=ask(f"openai/{fault}", QUESTION, stream=False)).content
    except httpx.RemoteProtocolError:
        assert fault.startswith("sim-cut")
        return
    with pytest.raises(json.JSONDecodeError):
        json.loads(content)


def test_error_in_a_choice(client: httpx.Client) -> None:
    """An answer that is not streamed has the error in its choice, with status 200."""
    body = client.post("/chat/completions", json=ask("openai/sim-midstream-error", QUESTION, stream=False)).json()
    assert body["choices"][0]["error"]["code"] == 502


@pytest.mark.parametrize("family", FAMILIES)
def test_empty(client: httpx.Client, family: str) -> None:
    """The finish reason is `stop`, and there is no content."""
    decoded = stream(client, "sim-empty", family)
    assert (decoded.content, decoded.reasoning, decoded.calls) == ("", "", [])
    assert decoded.finishes[0] == "stop"


def test_reasoning_only(client: httpx.Client) -> None:
    """There is reasoning and finish `stop`, but no content."""
    decoded = stream(client, "sim-reasoning-only")
    assert decoded.reasoning
    assert (decoded.content, decoded.finishes[0]) == ("", "stop")


@pytest.mark.parametrize("family", FAMILIES)
def test_length(client: httpx.Client, family: str) -> None:
    """The text ends with finish `length`, and with the provider's native reason."""
    decoded = stream(client, "sim-length", family, tools=None)
    assert decoded.content
    assert decoded.finishes[0] == "length"
    assert decoded.natives[0] in ("length", "max_output_tokens", "MAX_TOKENS", "max_tokens")


def test_length_while_reasoning(client: httpx.Client) -> None:
    """Reasoning uses all tokens: finish `length`, no content."""
    decoded = stream(client, "sim-length-empty")
    assert decoded.reasoning
    assert (decoded.content, decoded.finishes[0]) == ("", "length")


@pytest.mark.parametrize("family", FAMILIES)
def test_length_in_arguments(client: httpx.Client, family: str) -> None:
    """The arguments are truncated; only OpenAI's finish reason is `tool_calls`."""
    decoded = stream(client, "sim-length-tool", family)
    with pytest.raises(json.JSONDecodeError):
        json.loads(decoded.calls[0]["arguments"])
    assert decoded.finishes[0] == ("tool_calls" if family == "openai" else "length")


def test_refusal(client: httpx.Client) -> None:
    """The refusal is in its own field, and the content is empty."""
    decoded = stream(client, "sim-refusal")
    assert decoded.refusal.startswith("I'm sorry")
    assert decoded.content == ""


def test_filter(client: httpx.Client) -> None:
    """The finish reason is `content_filter`."""
    assert stream(client, "sim-filter", "google", tools=None).finishes[0] == "content_filter"


def test_searches(client: httpx.Client) -> None:
    """N different searches are in one step."""
    assert len(set(queries(stream(client, "sim-searches-8")))) == 8


def test_steps(client: httpx.Client) -> None:
    """Each of N steps has a different search, and then the answer follows."""
    body = ask("openai/sim-steps-3", QUESTION)
    asked = []
    for _ in range(3):
        decoded = decode(client.post("/chat/completions", json=body).content)
        asked += queries(decoded)
        call = decoded.calls[0]
        body["messages"] += [assistant_message(decoded), result(call["id"], run_tool(call["name"], {}))]
    final = decode(client.post("/chat/completions", json=body).content)
    assert len(set(asked)) == 3
    assert (final.calls, final.finishes[0]) == ([], "stop")
    assert "[7]" in final.content


def test_duplicate(client: httpx.Client) -> None:
    """The same search is made three times, with different spelling."""
    asked = queries(stream(client, "sim-duplicate"))
    assert len(set(asked)) == 3
    assert len({" ".join(query.casefold().strip(' "').split()) for query in asked}) == 1


def test_parallel(client: httpx.Client) -> None:
    """Clock, calculator and search are called in one step."""
    names = [call["name"] for call in stream(client, "sim-parallel").calls]
    assert names == ["get_current_time", "calculate", "search_web"]


def test_bad_arguments(client: httpx.Client) -> None:
    """Arguments are truncated, of a wrong type, missing, and not an object."""
    raw = [call["arguments"] for call in stream(client, "sim-bad-args", "deepseek").calls]
    with pytest.raises(json.JSONDecodeError):
        json.loads(raw[0])
    assert [json.loads(text) for text in raw[1:]] == [{"query": 42}, {}, ["not", "an object"]]


def test_unknown_tool(client: httpx.Client) -> None:
    """A tool is called that was not offered."""
    assert [call["name"] for call in stream(client, "sim-unknown-tool").calls] == ["lookup_everything"]


def test_same_id(client: httpx.Client) -> None:
    """Every call has the same id (quirk A15)."""
    assert [call["id"] for call in stream(client, "sim-same-id").calls] == ["call_0", "call_0"]


def test_late_stop(client: httpx.Client) -> None:
    """The finish reason is `stop` although there is a call (quirk A12)."""
    decoded = stream(client, "sim-late-stop", "x-ai")
    assert len(decoded.calls) == 1
    assert set(decoded.finishes) == {"stop"}


def test_stubborn(client: httpx.Client) -> None:
    """Tools are called although `tool_choice` is none (quirk D3)."""
    assert stream(client, "sim-stubborn", tool_choice="none").calls


def test_silent_finalize(client: httpx.Client) -> None:
    """The model searches while calls are allowed, then returns nothing (quirk D2)."""
    assert stream(client, "sim-silent-finalize").calls
    decoded = stream(client, "sim-silent-finalize", tool_choice="none")
    assert (decoded.content, decoded.calls, decoded.finishes[0]) == ("", [], "stop")


@pytest.mark.parametrize(("fault", "least"), [("sim-long", 3000), ("sim-long-500", 500)])
def test_long(client: httpx.Client, fault: str, least: int) -> None:
    """The answer has thousands of deltas, or at least the given number."""
    decoded = stream(client, fault)
    assert sum(1 for chunk in decoded.chunks for c in chunk["choices"] if c["delta"].get("content")) >= least
