"""The simulator's other routes, its limits, and what it tells tests about what it received."""

import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import signalbox.simulator
from openrouter.components import GenerationResponse, ModelsListResponse
from openrouter.operations import GetCurrentKeyResponse
from signalbox.simulator import create_simulator
from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.simulator.http.state import MAX_ENTRIES, Memory

from tests.unit.simulator.requests import FAMILIES, ask
from tests.unit.simulator.slow_decoder import hear


def test_models_reads_as_openrouters(client: httpx.Client) -> None:
    """The catalogue parses with OpenRouter's models and lists every `<family>/sim` with its parameters."""
    body = client.get("/models").json()
    listed = ModelsListResponse.model_validate(body)
    assert listed.total_count == len(listed.data)
    by_id = {model.id: model for model in listed.data}
    for family in FAMILIES:
        assert "tools" in by_id[f"{family}/sim"].supported_parameters
        assert float(by_id[f"{family}/sim"].pricing.prompt) > 0


@pytest.mark.anyio
async def test_faults_are_listed_only_when_wanted() -> None:
    """A person's picker is not filled with faults."""
    transport = httpx.ASGITransport(app=create_simulator())
    async with httpx.AsyncClient(transport=transport, base_url="http://simulator") as client:
        listed = (await client.get("/api/v1/models")).json()
    assert not [model["id"] for model in listed["data"] if "/sim-" in model["id"]]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_key_reads_as_openrouters(client: httpx.Client) -> None:
    """The key's body parses and the spending grows."""
    before = GetCurrentKeyResponse.model_validate(client.get("/key").json()).data.usage
    client.post("/chat/completions", json=ask("openai/sim", "Hello!"))
    assert GetCurrentKeyResponse.model_validate(client.get("/key").json()).data.usage > before


def test_usage_never_shrinks() -> None:
    """What a generation has cost stays in the account when the generation itself is no longer kept."""
    memory = Memory()
    spent: list[float] = []
    for number in range(MAX_ENTRIES + 3):
        memory.serve({"id": f"gen-{number}", "model": "openai/sim", "usage": 1.0, "total_cost": 1.0})
        spent.append(memory.spent)
        memory.settle(f"gen-{number}")
    assert spent == [float(number) for number in range(MAX_ENTRIES + 3)]


def test_generation_tells_what_was_served(client: httpx.Client) -> None:
    """The id of the header, of the chunks and of /generation is one; its figures are those of the usage."""
    response = client.post("/chat/completions", json=ask("anthropic/sim", "Hello!"))
    heard = hear(response.content)
    generation_id = response.headers["x-generation-id"]
    told = GenerationResponse.model_validate(client.get("/generation", params={"id": generation_id}).json()).data
    assert heard.usage is not None
    assert {chunk["id"] for chunk in heard.chunks} == {generation_id, told.id}
    assert told.total_cost == heard.usage["cost"]
    assert told.tokens_completion == heard.usage["completion_tokens"]
    assert (told.finish_reason, told.native_finish_reason) == ("stop", "stop")


def test_unknown_generation_is_a_404(client: httpx.Client) -> None:
    """What was not served is not found."""
    response = client.get("/generation", params={"id": "gen-1"})
    assert (response.status_code, response.json()["error"]["code"]) == (404, 404)


def test_requests_are_kept_without_the_key() -> None:
    """The last bodies are kept, bounded, and the key is in none of them."""
    with BackgroundSimulator() as simulator, httpx.Client(base_url=simulator.base_url) as client:
        headers = {"Authorization": "Bearer sk-or-canary", "HTTP-Referer": "https://example.org"}
        body = ask("openai/sim-done-only", "Hello!")
        for _ in range(MAX_ENTRIES + 3):
            client.post("/chat/completions", json=body, headers=headers)
        assert simulator.wait_until(lambda memory: memory.open_streams == 0)
        kept = simulator.app.state.requests
        assert len(kept) == MAX_ENTRIES
        assert kept[-1].body == body
        assert kept[-1].headers["http-referer"] == "https://example.org"
        assert kept[-1].authorized
        assert kept[-1].closed_early is False
        assert "canary" not in repr(kept)


def test_same_request_gets_new_ids(client: httpx.Client) -> None:
    """Two answers to one request differ in the ids they carry."""
    heard = [hear(client.post("/chat/completions", json=ask("openai/sim", "2+2")).content) for _ in range(2)]
    assert heard[0].chunks[0]["id"] != heard[1].chunks[0]["id"]
    assert heard[0].calls[0]["id"] != heard[1].calls[0]["id"]


@pytest.mark.parametrize(("family", "finish"), [("openai", "length"), ("anthropic", "length")])
def test_max_tokens_cuts_the_text(client: httpx.Client, family: str, finish: str) -> None:
    """The cap ends the answer, and the usage stays below it."""
    heard = hear(client.post("/chat/completions", json=ask(f"{family}/sim", "Hello!", max_tokens=30)).content)
    assert heard.finishes[0] == finish
    assert heard.usage is not None
    assert 0 < heard.usage["completion_tokens"] <= 31


def test_reasoning_is_spent_first(client: httpx.Client) -> None:
    """A small cap leaves nothing for the answer (quirk B8)."""
    heard = hear(client.post("/chat/completions", json=ask("deepseek/sim", "Hello!", max_tokens=5)).content)
    assert heard.reasoning
    assert (heard.content, heard.finishes[0]) == ("", "length")


def test_stop_sequence_ends_the_text(client: httpx.Client) -> None:
    """The answer ends before the stop sequence."""
    heard = hear(client.post("/chat/completions", json=ask("openai/sim", "Hello!", stop=["key"])).content)
    assert heard.content.endswith("without an API ")
    assert heard.finishes[0] == "stop"


def test_hidden_reasoning_is_not_sent(client: httpx.Client) -> None:
    """With reasoning.exclude no text comes; Gemini still seals its calls."""
    for family in ("openai", "google"):
        body = ask(f"{family}/sim", "2+2", reasoning={"effort": "low", "exclude": True})
        heard = hear(client.post("/chat/completions", json=body).content)
        assert not heard.reasoning
        assert [detail["type"] for detail in heard.details] == (["reasoning.encrypted"] if family == "google" else [])


def test_a_client_that_leaves_ends_its_answer() -> None:
    """A paced answer stops when nobody listens any more."""
    with (
        BackgroundSimulator(pace=0.01) as simulator,
        httpx.Client(base_url=simulator.base_url) as client,
    ):
        with client.stream("POST", "/chat/completions", json=ask("openai/sim-long", "Hello!")) as response:
            chunks = response.iter_raw()
            assert next(chunks)
            assert simulator.app.state.open_streams == 1
        assert simulator.wait_until(lambda memory: memory.open_streams == 0)
        assert simulator.app.state.requests[-1].closed_early is True


def test_a_stalled_answer_does_not_hold_up_the_end() -> None:
    """The simulator stops although an answer is open."""
    simulator = BackgroundSimulator().start()
    client = httpx.Client(base_url=simulator.base_url)
    with client.stream("POST", "/chat/completions", json=ask("openai/sim-stall", "Hello!")):
        simulator.stop()
    client.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{simulator.base_url}/models")


def test_serves_in_the_foreground_until_interrupted() -> None:
    """`serve` says where it listens, answers there, and ends quietly on an interrupt."""
    code = "from signalbox.simulator.http.server import serve; serve(port=0)"
    path = {"PYTHONPATH": str(Path(signalbox.simulator.__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, "-c", code], env=path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        address = running.stdout.readline().removeprefix("simulator: ").strip()
        assert httpx.get(f"{address}/models", timeout=10).json()["total_count"] > 0
        running.send_signal(signal.SIGINT)
        assert running.communicate(timeout=10) == ("", "")
    assert running.returncode == 0


def test_imports_nothing_of_ours() -> None:
    """The package stands alone: it can be loaded without the rest of signalbox."""
    code = (
        "import sys, signalbox.simulator.http.server;"
        "ours = {m for m in sys.modules if m.startswith('signalbox.') and not m.startswith('signalbox.simulator')};"
        "sys.exit(f'imported: {ours}' if ours else 0)"
    )
    path = {"PYTHONPATH": str(Path(signalbox.simulator.__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=path)
    assert (done.returncode, done.stderr) == (0, "")
