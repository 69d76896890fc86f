"""The other routes, the limits, and the record of received requests."""

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
from signalbox.simulator.http.state import MAX_ENTRIES, SimulatorState

from tests.unit.simulator.requests import FAMILIES, ask
from tests.unit.simulator.slow_decoder import decode


def test_models(client: httpx.Client) -> None:
    """OpenRouter's SDK accepts the catalogue, which lists every `<family>/sim` with its parameters."""
    body = client.get("/models").json()
    listed = ModelsListResponse.model_validate(body)
    assert listed.total_count == len(listed.data)
    by_id = {model.id: model for model in listed.data}
    for family in FAMILIES:
        assert "tools" in by_id[f"{family}/sim"].supported_parameters
        assert float(by_id[f"{family}/sim"].pricing.prompt) > 0


@pytest.mark.anyio
async def test_faults_are_not_listed_by_default() -> None:
    """Without `list_faults`, the catalogue has no faults."""
    transport = httpx.ASGITransport(app=create_simulator())
    async with httpx.AsyncClient(transport=transport, base_url="http://simulator") as client:
        listed = (await client.get("/api/v1/models")).json()
    assert not [model["id"] for model in listed["data"] if "/sim-" in model["id"]]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_key(client: httpx.Client) -> None:
    """OpenRouter's SDK accepts the body of /key, and its usage grows."""
    before = GetCurrentKeyResponse.model_validate(client.get("/key").json()).data.usage
    client.post("/chat/completions", json=ask("openai/sim", "Hello!"))
    assert GetCurrentKeyResponse.model_validate(client.get("/key").json()).data.usage > before


def test_usage_never_decreases() -> None:
    """The cost of dropped generations still counts."""
    state = SimulatorState()
    spent: list[float] = []
    for number in range(MAX_ENTRIES + 3):
        state.serve({"id": f"gen-{number}", "model": "openai/sim", "usage": 1.0, "total_cost": 1.0})
        spent.append(state.spent)
        state.settle(f"gen-{number}")
    assert spent == [float(number) for number in range(MAX_ENTRIES + 3)]


def test_generation(client: httpx.Client) -> None:
    """Header, chunks and /generation have the same id, and /generation has the figures of the usage."""
    response = client.post("/chat/completions", json=ask("anthropic/sim", "Hello!"))
    decoded = decode(response.content)
    generation_id = response.headers["x-generation-id"]
    generation = GenerationResponse.model_validate(client.get("/generation", params={"id": generation_id}).json()).data
    assert decoded.usage is not None
    assert {chunk["id"] for chunk in decoded.chunks} == {generation_id, generation.id}
    assert generation.total_cost == decoded.usage["cost"]
    assert generation.tokens_completion == decoded.usage["completion_tokens"]
    assert (generation.finish_reason, generation.native_finish_reason) == ("stop", "stop")


def test_unknown_generations(client: httpx.Client) -> None:
    """An unknown generation is a 404."""
    response = client.get("/generation", params={"id": "gen-1"})
    assert (response.status_code, response.json()["error"]["code"]) == (404, 404)


def test_requests_are_recorded_without_the_key() -> None:
    """The last bodies are recorded, up to a limit, and never the key."""
    with BackgroundSimulator() as simulator, httpx.Client(base_url=simulator.base_url, verify=False) as client:
        headers = {"Authorization": "Bearer sk-or-canary", "HTTP-Referer": "https://example.org"}
        body = ask("openai/sim-done-only", "Hello!")
        for _ in range(MAX_ENTRIES + 3):
            client.post("/chat/completions", json=body, headers=headers)
        assert simulator.wait_until(lambda state: state.open_streams == 0)
        kept = simulator.app.state.requests
        assert len(kept) == MAX_ENTRIES
        assert kept[-1].body == body
        assert kept[-1].headers["http-referer"] == "https://example.org"
        assert kept[-1].authorized
        assert kept[-1].closed_early is False
        assert "canary" not in repr(kept)


def test_repeated_requests_get_new_ids(client: httpx.Client) -> None:
    """Two answers to the same request have different ids."""
    decoded = [decode(client.post("/chat/completions", json=ask("openai/sim", "2+2")).content) for _ in range(2)]
    assert decoded[0].chunks[0]["id"] != decoded[1].chunks[0]["id"]
    assert decoded[0].calls[0]["id"] != decoded[1].calls[0]["id"]


@pytest.mark.parametrize(("family", "finish"), [("openai", "length"), ("anthropic", "length")])
def test_max_tokens_truncates_the_text(client: httpx.Client, family: str, finish: str) -> None:
    """The limit ends the answer, and the usage respects it."""
    decoded = decode(client.post("/chat/completions", json=ask(f"{family}/sim", "Hello!", max_tokens=30)).content)
    assert decoded.finishes[0] == finish
    assert decoded.usage is not None
    assert 0 < decoded.usage["completion_tokens"] <= 31


def test_reasoning_uses_tokens_first(client: httpx.Client) -> None:
    """A small limit leaves no tokens for the answer (quirk B8)."""
    decoded = decode(client.post("/chat/completions", json=ask("deepseek/sim", "Hello!", max_tokens=5)).content)
    assert decoded.reasoning
    assert (decoded.content, decoded.finishes[0]) == ("", "length")


def test_stop_sequences(client: httpx.Client) -> None:
    """The answer ends before the stop sequence."""
    decoded = decode(client.post("/chat/completions", json=ask("openai/sim", "Hello!", stop=["key"])).content)
    assert decoded.content.endswith("without an API ")
    assert decoded.finishes[0] == "stop"


def test_excluded_reasoning(client: httpx.Client) -> None:
    """With `reasoning.exclude` no text is sent; Gemini still signs its calls."""
    for family in ("openai", "google"):
        body = ask(f"{family}/sim", "2+2", reasoning={"effort": "low", "exclude": True})
        decoded = decode(client.post("/chat/completions", json=body).content)
        assert not decoded.reasoning
        assert [detail["type"] for detail in decoded.details] == (["reasoning.encrypted"] if family == "google" else [])


def test_a_disconnect_ends_the_answer() -> None:
    """A paced answer stops when its client disconnects."""
    with (
        BackgroundSimulator(pace=0.01) as simulator,
        httpx.Client(base_url=simulator.base_url, verify=False) as client,
    ):
        with client.stream("POST", "/chat/completions", json=ask("openai/sim-long", "Hello!")) as response:
            chunks = response.iter_raw()
            assert next(chunks)
            assert simulator.app.state.open_streams == 1
        assert simulator.wait_until(lambda state: state.open_streams == 0)
        assert simulator.app.state.requests[-1].closed_early is True


def test_stopping_with_a_stalled_answer() -> None:
    """The simulator stops although an answer is open."""
    simulator = BackgroundSimulator().start()
    client = httpx.Client(base_url=simulator.base_url, verify=False)
    with client.stream("POST", "/chat/completions", json=ask("openai/sim-stall", "Hello!")):
        simulator.stop()
    client.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{simulator.base_url}/models")


def test_serve_in_the_foreground() -> None:
    """`serve` prints its address, answers there, and ends quietly on SIGINT."""
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


def test_imports_nothing_from_signalbox() -> None:
    """The simulator can be imported without the rest of Signalbox."""
    code = (
        "import sys, signalbox.simulator.http.server;"
        "ours = {m for m in sys.modules if m.startswith('signalbox.') and not m.startswith('signalbox.simulator')};"
        "sys.exit(f'imported: {ours}' if ours else 0)"
    )
    path = {"PYTHONPATH": str(Path(signalbox.simulator.__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=path)
    assert (done.returncode, done.stderr) == (0, "")
