"""/generation: 404 while an answer is sent, then its cost, lower if it was cut off."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
from openrouter.components import GenerationResponse
from signalbox.simulator.http.generations import settled
from signalbox.simulator.http.server import BackgroundSimulator

from tests.unit.simulator.requests import ask
from tests.unit.simulator.slow_decoder import decode


@pytest.fixture(scope="module")
def paced() -> Iterator[BackgroundSimulator]:
    """Run a simulator that is slow enough to be left."""
    with BackgroundSimulator(pace=0.005) as running:
        yield running


def get_generation(simulator: BackgroundSimulator, generation_id: str) -> httpx.Response:
    """Request a generation."""
    return httpx.get(f"{simulator.base_url}/generation", params={"id": generation_id})


def disconnected_generation(simulator: BackgroundSimulator, model: str, **fields: Any) -> dict[str, Any]:
    """Disconnect after the first bytes of an answer, and return its generation."""
    with (
        httpx.Client(base_url=simulator.base_url, verify=False) as client,
        client.stream("POST", "/chat/completions", json=ask(model, "Hello!", **fields)) as response,
    ):
        generation_id = response.headers["x-generation-id"]
        chunks = response.iter_raw()
        assert next(chunks)
        assert get_generation(simulator, generation_id).status_code == 404
    assert simulator.wait_until(lambda memory: generation_id not in memory.unfinished)
    body = get_generation(simulator, generation_id).json()
    GenerationResponse.model_validate(body)
    return body["data"]


def test_a_disconnected_stream_costs_what_was_sent(paced: BackgroundSimulator) -> None:
    """It is cancelled, without a finish reason, and has a small part of the tokens and the cost."""
    found = disconnected_generation(paced, "openai/sim-long")
    assert (found["cancelled"], found["finish_reason"]) == (True, None)
    assert 0 <= found["native_tokens_completion"] < 1000
    assert 0 < found["total_cost"] == found["usage"] < 0.01


def test_some_providers_bill_the_complete_answer(paced: BackgroundSimulator) -> None:
    """If the provider does not stop the model, the complete answer is billed."""
    found = disconnected_generation(paced, "google/sim-long")
    assert found["cancelled"] is True
    assert found["native_tokens_completion"] > 3000


@pytest.mark.parametrize(("streamed", "early", "tokens"), [(True, True, 50), (False, True, 100), (False, False, 50)])
def test_answers_that_are_not_streamed_are_billed_completely(streamed: bool, early: bool, tokens: int) -> None:
    """A client that disconnects while it waits for an answer that is not streamed pays for all of it."""
    entry = {
        "model": "openai/sim",
        "provider_name": "OpenAI",
        "streamed": streamed,
        "native_tokens_prompt": 10,
        "native_tokens_completion": 100,
        "native_tokens_reasoning": 80,
    }
    assert settled(entry, 0.5, early=early)["native_tokens_completion"] == tokens


@pytest.mark.parametrize("fault", ["cut", "cut-200", "eof", "midstream-error", "done-only", "cut-tool"])
def test_answers_cut_off_by_the_provider(simulator: BackgroundSimulator, client: httpx.Client, fault: str) -> None:
    """They are not cancelled, and the part that was sent is billed."""
    with client.stream("POST", "/chat/completions", json=ask(f"openai/sim-{fault}", "Hello!")) as response:
        generation_id = response.headers["x-generation-id"]
        with suppress(httpx.RemoteProtocolError):
            response.read()
    assert simulator.wait_until(lambda memory: generation_id not in memory.unfinished)
    found = get_generation(simulator, generation_id).json()["data"]
    assert found["cancelled"] is False
    assert 0 < found["total_cost"] == found["usage"]


def test_cost_grows_with_the_part_sent(simulator: BackgroundSimulator, client: httpx.Client) -> None:
    """The more of a stream is sent, the more tokens are billed."""
    billed: list[int] = []
    for name in ("sim-cut-200", "sim-cut", "sim-no-done"):
        with client.stream("POST", "/chat/completions", json=ask(f"openai/{name}", "Hello!")) as response:
            generation_id = response.headers["x-generation-id"]
            with suppress(httpx.RemoteProtocolError):
                response.read()
        assert simulator.wait_until(lambda memory, at=generation_id: at not in memory.unfinished)
        billed.append(get_generation(simulator, generation_id).json()["data"]["native_tokens_completion"])
    assert billed[0] < billed[1]
    assert billed[0] < billed[2]


def test_late_bill(simulator: BackgroundSimulator, client: httpx.Client) -> None:
    """A finished generation is a 404 twice, then it has the figures of the usage."""
    response = client.post("/chat/completions", json=ask("openai/sim-late-bill", "Hello!"))
    decoded = decode(response.content)
    assert decoded.content
    assert decoded.usage
    generation_id = response.headers["x-generation-id"]
    statuses = [get_generation(simulator, generation_id).status_code for _ in range(4)]
    assert statuses == [404, 404, 200, 200]
    assert get_generation(simulator, generation_id).json()["data"]["total_cost"] == decoded.usage["cost"]


@pytest.mark.parametrize("family", ["openai", "qwen"])
@pytest.mark.parametrize("stream", [True, False])
def test_the_cost_is_available_at_the_end_of_an_answer(client: httpx.Client, family: str, stream: bool) -> None:
    """A client that has read a complete answer finds its generation at the first request."""
    for _ in range(5):
        response = client.post("/chat/completions", json=ask(f"{family}/sim", "Hello!", stream=stream))
        found = client.get("/generation", params={"id": response.headers["x-generation-id"]})
        assert found.status_code == 200
        assert found.json()["data"]["cancelled"] is False
