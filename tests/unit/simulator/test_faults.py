"""Each scripted fault does over HTTP what its row in the table says."""

import json
from typing import Any

import httpx
import pytest
from signalbox.simulator.faults import scripted
from signalbox.simulator.http.server import BackgroundSimulator

from tests.unit.simulator.requests import FAMILIES, ask, result, run_tool
from tests.unit.simulator.slow_decoder import Heard, hear, said

QUESTION = "Search for the tool loop"
HISTORY_CALL = {
    "id": "abcdefghi",
    "type": "function",
    "function": {"name": "search_web", "arguments": '{"query": "x"}'},
}


def stream(client: httpx.Client, fault: str, family: str = "openai", **fields: Any) -> Heard:
    """Post a stream request to a faulty model and read the answer."""
    response = client.post("/chat/completions", json=ask(f"{family}/{fault}", QUESTION, **fields))
    assert response.status_code == 200, response.text
    return hear(response.content)


def collect(response: httpx.Response, into: bytearray) -> None:
    """Read a body as far as it comes."""
    for chunk in response.iter_raw():
        into.extend(chunk)


def queries(heard: Heard) -> list[str]:
    """Give the queries of the searches."""
    return [json.loads(call["arguments"])["query"] for call in heard.calls]


def test_table_names_every_fault() -> None:
    """The table in the docstring and the code know the same faults."""
    documented = {
        line.split("|")[1].strip() for line in (scripted.__doc__ or "").splitlines() if line.startswith("| sim-")
    }
    known = {f"sim-{name}" for name in (*scripted.WIRE_FAULTS, *scripted.TURNS)}
    assert {name.removesuffix("-N") for name in documented} == known
    assert all(scripted.fault_of(f"openai/{name}") for name in scripted.example_ids())


@pytest.mark.parametrize("status", scripted.ERROR_CODES)
@pytest.mark.parametrize("streamed", [True, False])
def test_http_errors(client: httpx.Client, status: int, streamed: bool) -> None:
    """The status and OpenRouter's error body come back, also for a stream request."""
    response = client.post("/chat/completions", json=ask(f"openai/sim-error-{status}", QUESTION, stream=streamed))
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    assert response.json()["error"]["code"] == status


def test_rate_limit_tells_its_end_in_milliseconds(client: httpx.Client) -> None:
    """A 429 has no Retry-After; the body says when the limit ends (quirk F1)."""
    response = client.post("/chat/completions", json=ask("openai/sim-error-429", QUESTION))
    assert "retry-after" not in response.headers
    assert int(response.json()["error"]["metadata"]["headers"]["X-RateLimit-Reset"]) > 10**12


def test_fallback_model_answers_after_an_error(client: httpx.Client) -> None:
    """With models[] the next one answers when the first has failed, and says its own name."""
    body = ask("openai/sim-error-502", QUESTION, models=["openai/sim-error-502", "deepseek/sim"])
    assert hear(client.post("/chat/completions", json=body).content).chunks[0]["model"] == "deepseek/sim"


def test_json_error_in_a_200(client: httpx.Client) -> None:
    """A stream request is answered 200 with a JSON error body."""
    response = client.post("/chat/completions", json=ask("openai/sim-json-error", QUESTION))
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.json()["error"]["code"] == 429


@pytest.mark.parametrize("family", FAMILIES)
def test_midstream_error(client: httpx.Client, family: str) -> None:
    """Something, then a chunk with a top-level error and finish `error`."""
    heard = stream(client, "sim-midstream-error", family, tools=None)
    assert heard.error is not None
    assert heard.error["code"] == 502
    assert heard.finishes == ["error"]
    assert heard.content


@pytest.mark.parametrize("family", FAMILIES)
def test_cut_closes_the_socket(client: httpx.Client, family: str) -> None:
    """The body is not completed and no finish has come."""
    read = bytearray()
    body = ask(f"{family}/sim-cut", QUESTION)
    with client.stream("POST", "/chat/completions", json=body) as response, pytest.raises(httpx.RemoteProtocolError):
        collect(response, read)
    assert read
    assert b"[DONE]" not in read
    assert not hear(bytes(read)).finishes


@pytest.mark.parametrize("size", [1, 100, 777])
def test_cut_behind_a_byte(client: httpx.Client, size: int) -> None:
    """Exactly so many bytes come, and then the socket is closed."""
    read = bytearray()
    body = ask(f"openai/sim-cut-{size}", QUESTION)
    with client.stream("POST", "/chat/completions", json=body) as response, pytest.raises(httpx.RemoteProtocolError):
        collect(response, read)
    assert len(read) == size


@pytest.mark.parametrize("family", FAMILIES)
def test_no_done_is_whole_but_for_its_last_frame(client: httpx.Client, family: str) -> None:
    """Text, finish and usage are there; `[DONE]` is not."""
    read = bytearray()
    with client.stream("POST", "/chat/completions", json=ask(f"{family}/sim-no-done", "Hello!")) as response:
        collect(response, read)
    assert b"[DONE]" not in read
    assert hear(bytes(read)).finishes


def test_a_drip_is_the_same_answer_in_small_writes(client: httpx.Client) -> None:
    """Frames are cut anywhere, and nothing of them is lost."""
    read = bytearray()
    with client.stream("POST", "/chat/completions", json=ask("google/sim-drip", "Hello!")) as response:
        collect(response, read)
    assert hear(bytes(read)).content
    assert hear(bytes(read)).finishes


def test_faults_are_listed_but_hidden(client: httpx.Client) -> None:
    """A catalogue knows every fault by name, and says that it is no choice for a person."""
    listed = {entry["id"]: entry.get("hidden", False) for entry in client.get("/models").json()["data"]}
    assert listed["openai/sim"] is False
    assert {name for name, hidden in listed.items() if hidden} >= {
        "openai/sim-cut",
        "qwen/sim-drip",
        "x-ai/sim-error-429",
    }


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "mistralai"])
def test_cut_after_whole_calls(client: httpx.Client, family: str) -> None:
    """The calls are whole, but nothing says that they were meant."""
    read = bytearray()
    body = ask(f"{family}/sim-cut-tool", QUESTION)
    with client.stream("POST", "/chat/completions", json=body) as response, pytest.raises(httpx.RemoteProtocolError):
        collect(response, read)
    heard = hear(bytes(read))
    assert queries(heard) == ["tool loop"]
    assert not heard.finishes


def test_eof_ends_cleanly_without_a_finish(client: httpx.Client) -> None:
    """The stream ends in the middle without an error on the transport."""
    heard = stream(client, "sim-eof")
    assert heard.content
    assert (heard.finishes, heard.done) == ([], False)


def test_done_only(client: httpx.Client) -> None:
    """Nothing but [DONE]."""
    assert client.post("/chat/completions", json=ask("qwen/sim-done-only", QUESTION)).content == b"data: [DONE]\n\n"


def test_stall_waits_until_the_client_leaves(simulator: BackgroundSimulator) -> None:
    """Some chunks, then nothing; the simulator notices that the client has gone."""
    body = ask("openai/sim-stall", QUESTION)
    with httpx.Client(base_url=simulator.base_url, timeout=0.2) as impatient:
        request = impatient.build_request("POST", "/chat/completions", json=body)
        response = impatient.send(request, stream=True)
        received = simulator.memory.requests[-1]
        assert simulator.app.state.open_streams == 1
        with pytest.raises(httpx.ReadTimeout):
            response.read()
    assert simulator.wait_until(lambda memory: memory.open_streams == 0)
    assert simulator.app.state.open_streams == 0
    assert received.closed_early is True


def test_malformed_frame(client: httpx.Client) -> None:
    """One data line is not JSON; the others are."""
    body = client.post("/chat/completions", json=ask("google/sim-malformed", QUESTION)).content
    lines = [line[6:] for line in body.split(b"\n") if line.startswith(b"data: {")]
    broken = [line for line in lines if not line.endswith(b"}")]
    assert len(broken) == 1
    with pytest.raises(json.JSONDecodeError):
        json.loads(broken[0])


@pytest.mark.parametrize("fault", ["sim-cut", "sim-cut-tool", "sim-eof", "sim-malformed", "sim-done-only"])
def test_whole_bodies_break_too(client: httpx.Client, fault: str) -> None:
    """A whole answer of these is no JSON."""
    try:
        content = client.post("/chat/completions", json=ask(f"openai/{fault}", QUESTION, stream=False)).content
    except httpx.RemoteProtocolError:
        assert fault.startswith("sim-cut")
        return
    with pytest.raises(json.JSONDecodeError):
        json.loads(content)


def test_whole_error_in_a_choice(client: httpx.Client) -> None:
    """A whole answer carries the error in its choice, with status 200."""
    body = client.post("/chat/completions", json=ask("openai/sim-midstream-error", QUESTION, stream=False)).json()
    assert body["choices"][0]["error"]["code"] == 502


@pytest.mark.parametrize("family", FAMILIES)
def test_empty(client: httpx.Client, family: str) -> None:
    """Finish stop and no content."""
    heard = stream(client, "sim-empty", family)
    assert (heard.content, heard.reasoning, heard.calls) == ("", "", [])
    assert heard.finishes[0] == "stop"


def test_reasoning_only(client: httpx.Client) -> None:
    """Reasoning, finish stop and no content."""
    heard = stream(client, "sim-reasoning-only")
    assert heard.reasoning
    assert (heard.content, heard.finishes[0]) == ("", "stop")


@pytest.mark.parametrize("family", FAMILIES)
def test_length(client: httpx.Client, family: str) -> None:
    """Finish length in the middle of the text, with the host's word for it."""
    heard = stream(client, "sim-length", family, tools=None)
    assert heard.content
    assert heard.finishes[0] == "length"
    assert heard.natives[0] in ("length", "max_output_tokens", "MAX_TOKENS", "max_tokens")


def test_length_while_reasoning(client: httpx.Client) -> None:
    """Reasoning has eaten everything: finish length, no content."""
    heard = stream(client, "sim-length-empty")
    assert heard.reasoning
    assert (heard.content, heard.finishes[0]) == ("", "length")


@pytest.mark.parametrize("family", FAMILIES)
def test_length_in_arguments(client: httpx.Client, family: str) -> None:
    """The arguments are cut; OpenAI's host says `tool_calls`, and only its native reason tells."""
    heard = stream(client, "sim-length-tool", family)
    with pytest.raises(json.JSONDecodeError):
        json.loads(heard.calls[0]["arguments"])
    assert heard.finishes[0] == ("tool_calls" if family == "openai" else "length")


def test_refusal(client: httpx.Client) -> None:
    """The refusal stands in its own field and content is empty."""
    heard = stream(client, "sim-refusal")
    assert heard.refusal.startswith("I'm sorry")
    assert heard.content == ""


def test_filter(client: httpx.Client) -> None:
    """Text, then content_filter."""
    assert stream(client, "sim-filter", "google", tools=None).finishes[0] == "content_filter"


def test_searches(client: httpx.Client) -> None:
    """N distinct searches in one step."""
    assert len(set(queries(stream(client, "sim-searches-8")))) == 8


def test_steps(client: httpx.Client) -> None:
    """One distinct search in each of N steps, then the answer."""
    body = ask("openai/sim-steps-3", QUESTION)
    asked = []
    for _ in range(3):
        heard = hear(client.post("/chat/completions", json=body).content)
        asked += queries(heard)
        call = heard.calls[0]
        body["messages"] += [said(heard), result(call["id"], run_tool(call["name"], {}))]
    final = hear(client.post("/chat/completions", json=body).content)
    assert len(set(asked)) == 3
    assert (final.calls, final.finishes[0]) == ([], "stop")
    assert "[7]" in final.content


def test_duplicate(client: httpx.Client) -> None:
    """The same search three times, written differently."""
    asked = queries(stream(client, "sim-duplicate"))
    assert len(set(asked)) == 3
    assert len({" ".join(query.casefold().strip(' "').split()) for query in asked}) == 1


def test_parallel(client: httpx.Client) -> None:
    """Time, sum and search in one step."""
    names = [call["name"] for call in stream(client, "sim-parallel").calls]
    assert names == ["get_current_time", "calculate", "search_web"]


def test_bad_arguments(client: httpx.Client) -> None:
    """Cut, of a wrong type, missing, and no object at all."""
    raw = [call["arguments"] for call in stream(client, "sim-bad-args", "deepseek").calls]
    with pytest.raises(json.JSONDecodeError):
        json.loads(raw[0])
    assert [json.loads(text) for text in raw[1:]] == [{"query": 42}, {}, ["not", "an object"]]


def test_unknown_tool(client: httpx.Client) -> None:
    """A tool is asked that was not offered."""
    assert [call["name"] for call in stream(client, "sim-unknown-tool").calls] == ["lookup_everything"]


def test_same_id(client: httpx.Client) -> None:
    """Every call has the same id (quirk A15)."""
    assert [call["id"] for call in stream(client, "sim-same-id").calls] == ["call_0", "call_0"]


def test_stop_that_means_tool_calls(client: httpx.Client) -> None:
    """finish_reason says stop although a call was sent (quirk A12)."""
    heard = stream(client, "sim-late-stop", "x-ai")
    assert len(heard.calls) == 1
    assert set(heard.finishes) == {"stop"}


def test_stubborn(client: httpx.Client) -> None:
    """Tools are asked for although tool_choice is none (quirk D3)."""
    assert stream(client, "sim-stubborn", tool_choice="none").calls


def test_silent_finalize(client: httpx.Client) -> None:
    """Asks until it may not, and then says nothing (quirk D2)."""
    assert stream(client, "sim-silent-finalize").calls
    heard = stream(client, "sim-silent-finalize", tool_choice="none")
    assert (heard.content, heard.calls, heard.finishes[0]) == ("", [], "stop")


@pytest.mark.parametrize(("fault", "least"), [("sim-long", 3000), ("sim-long-500", 500)])
def test_long(client: httpx.Client, fault: str, least: int) -> None:
    """Thousands of deltas, or as many as asked for."""
    heard = stream(client, fault)
    assert sum(1 for chunk in heard.chunks for c in chunk["choices"] if c["delta"].get("content")) >= least
