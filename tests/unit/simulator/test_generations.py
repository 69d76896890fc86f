"""What /generation tells and when: never while an answer is sent, late on request, less for what was cut."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
from openrouter.components import GenerationResponse
from signalbox.simulator.http.generations import settled
from signalbox.simulator.http.server import BackgroundSimulator

from tests.unit.simulator.requests import ask
from tests.unit.simulator.slow_decoder import hear


@pytest.fixture(scope="module")
def paced() -> Iterator[BackgroundSimulator]:
    """Run a simulator that is slow enough to be left."""
    with BackgroundSimulator(pace=0.005) as running:
        yield running


def told(simulator: BackgroundSimulator, generation_id: str) -> httpx.Response:
    """Ask for a generation."""
    return httpx.get(f"{simulator.base_url}/generation", params={"id": generation_id})


def left(simulator: BackgroundSimulator, model: str, **fields: Any) -> dict[str, Any]:
    """Leave an answer after its first bytes and give what its generation then tells."""
    with (
        httpx.Client(base_url=simulator.base_url) as client,
        client.stream("POST", "/chat/completions", json=ask(model, "Hello!", **fields)) as response,
    ):
        generation_id = response.headers["x-generation-id"]
        chunks = response.iter_raw()
        assert next(chunks)
        assert told(simulator, generation_id).status_code == 404
    assert simulator.wait_until(lambda memory: generation_id not in memory.unfinished)
    body = told(simulator, generation_id).json()
    GenerationResponse.model_validate(body)
    return body["data"]


def test_a_stream_that_was_left_costs_what_was_sent(paced: BackgroundSimulator) -> None:
    """It is marked cancelled, has no finish, and a small part of the tokens and of the cost."""
    found = left(paced, "openai/sim-long")
    assert (found["cancelled"], found["finish_reason"]) == (True, None)
    assert 0 <= found["native_tokens_completion"] < 1000
    assert 0 < found["total_cost"] == found["usage"] < 0.01


def test_some_hosts_bill_the_whole_answer(paced: BackgroundSimulator) -> None:
    """Where leaving does not stop the model, all of it is billed."""
    found = left(paced, "google/sim-long")
    assert found["cancelled"] is True
    assert found["native_tokens_completion"] > 3000


@pytest.mark.parametrize(("streamed", "early", "tokens"), [(True, True, 50), (False, True, 100), (False, False, 50)])
def test_what_was_not_streamed_is_billed_whole(streamed: bool, early: bool, tokens: int) -> None:
    """A client that leaves while it waits for a whole answer pays for all of it."""
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
def test_a_broken_answer_has_its_bill(simulator: BackgroundSimulator, client: httpx.Client, fault: str) -> None:
    """What a host broke off is not cancelled; only what it sent is billed."""
    with client.stream("POST", "/chat/completions", json=ask(f"openai/sim-{fault}", "Hello!")) as response:
        generation_id = response.headers["x-generation-id"]
        with suppress(httpx.RemoteProtocolError):
            response.read()
    assert simulator.wait_until(lambda memory: generation_id not in memory.unfinished)
    found = told(simulator, generation_id).json()["data"]
    assert found["cancelled"] is False
    assert 0 < found["total_cost"] == found["usage"]


def test_half_an_answer_costs_less(simulator: BackgroundSimulator, client: httpx.Client) -> None:
    """The further a stream came, the more of its tokens are billed."""
    billed: list[int] = []
    for name in ("sim-cut-200", "sim-cut", "sim-no-done"):
        with client.stream("POST", "/chat/completions", json=ask(f"openai/{name}", "Hello!")) as response:
            generation_id = response.headers["x-generation-id"]
            with suppress(httpx.RemoteProtocolError):
                response.read()
        assert simulator.wait_until(lambda memory, at=generation_id: at not in memory.unfinished)
        billed.append(told(simulator, generation_id).json()["data"]["native_tokens_completion"])
    assert billed[0] < billed[1]
    assert billed[0] < billed[2]


def test_a_late_bill_is_found_the_third_time(simulator: BackgroundSimulator, client: httpx.Client) -> None:
    """The generation is a 404 twice although the answer was whole, then it has the figures of the usage."""
    response = client.post("/chat/completions", json=ask("openai/sim-late-bill", "Hello!"))
    heard = hear(response.content)
    assert heard.content
    assert heard.usage
    generation_id = response.headers["x-generation-id"]
    statuses = [told(simulator, generation_id).status_code for _ in range(4)]
    assert statuses == [404, 404, 200, 200]
    assert told(simulator, generation_id).json()["data"]["total_cost"] == heard.usage["cost"]


@pytest.mark.parametrize("family", ["openai", "qwen"])
@pytest.mark.parametrize("stream", [True, False])
def test_a_whole_answer_is_billed_before_its_end_is_read(client: httpx.Client, family: str, stream: bool) -> None:
    """Who has read all of an answer finds its generation at the first try."""
    for _ in range(5):
        response = client.post("/chat/completions", json=ask(f"{family}/sim", "Hello!", stream=stream))
        found = client.get("/generation", params={"id": response.headers["x-generation-id"]})
        assert found.status_code == 200
        assert found.json()["data"]["cancelled"] is False
