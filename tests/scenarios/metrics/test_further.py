"""Metrics of client tools, models that tools call, failed transactions, settled costs, and embedded apps."""

from pathlib import Path

import httpx
import pytest
from signalbox.chat.loops.progress import Attempt, Progress
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.core.messages import UserMessage
from signalbox.core.parts import Bill, Completion, Request, Served, Usage
from signalbox.metrics.metrics import Metrics
from signalbox.store.database import touch

from tests.scenarios.conversations.conversation_client import start_conversation
from tests.scenarios.embedding.hosts import host_of, mounted, serving_host
from tests.scenarios.files.file_writer import done
from tests.scenarios.files.test_images import draws, wants
from tests.support.fixtures import StartApp
from tests.support.metrics import Scrape
from tests.support.scripted_upstream import call_chunk, calls_then, says

TOKEN = "the-token-of-prometheus"
METRICS = {"signalbox_metrics_token": TOKEN}


def scrape(client: httpx.Client, path: str = "/metrics") -> Scrape:
    """Scrape with the token."""
    return Scrape(client.get(path, headers={"authorization": f"Bearer {TOKEN}"}).raise_for_status().text)


def test_calls_of_clients_have_no_names(start_app: StartApp) -> None:
    """A client may name its tools as it likes."""
    app, _ = start_app(calls_then(call_chunk("mine-12345", "{}")), settings=METRICS)
    tool = {"type": "function", "function": {"name": "mine-12345", "parameters": {"type": "object"}}}
    body = {"model": "openai/sim", "messages": [{"role": "user", "content": "Hi"}], "tools": [tool], "stream": True}
    assert app.client.post("/v1/chat/completions", json=body).status_code == 200
    found = scrape(app.client)
    assert found.labels("tool_calls_total") == [{"tool": "client", "outcome": "handed"}]
    assert found.total("runs_total", protocol="chat-completions", status="complete") == 1


def test_a_model_that_a_tool_calls_has_its_own_costs(start_app: StartApp) -> None:
    """They are not booked on the model of the run, also if that is listed and the tool's is not."""
    settings = {**METRICS, "signalbox_metrics_models": "openai/sim", "signalbox_image_model": "google/draws"}
    talk = start_conversation(start_app, wants(prompts=["A red fox"]), draws(0.04), done, settings=settings)
    talk.ask("Draw", tools=["generate_images"], model="openai/sim")
    found = scrape(talk.app.client)
    assert found.total("cost_usd_total", model="other", family="google") == pytest.approx(0.04)
    assert found.total("cost_usd_total", model="openai/sim") == 0
    assert found.total("tokens_total", model="other", family="google", direction="output") == 1290
    assert found.total("tokens_total", model="openai/sim", family="google") == 0
    assert found.total("runs_total", model="openai/sim", family="openai") == 1


def test_failed_transactions_are_counted(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """By code, also reads outside of runs."""
    app, _ = start_app(says("Hi."), settings=METRICS)
    database = app.parts.database

    async def broken(work: object) -> None:
        raise StoreError(Code.STORE_UNAVAILABLE)

    before = scrape(app.client).total("database_errors_total", code="STORE_UNAVAILABLE")
    with monkeypatch.context() as patch:
        patch.setattr(database, "_read", broken)
        with pytest.raises(StoreError):
            app.within(database.read(touch))
    assert before == 0
    assert scrape(app.client).total("database_errors_total", code="STORE_UNAVAILABLE") == 1


def test_a_cost_that_is_settled_later_is_added() -> None:
    """The bill of an attempt that reported no usage."""
    metrics = Metrics(models=("openai/sim",), only_upstream="default", version="1", is_embedded=True)
    progress = Progress(clock=lambda: 0.0)
    attempt: Attempt = progress.begin_attempt(Request("openai/sim", (UserMessage("Hi"),)), 1, final=False)
    attempt.finish(Completion(served=Served("gen-1")), 1.0, None)
    metrics.runs.settled(attempt)
    attempt.apply_bill(Bill(Usage(input=20, output=7, cost=0.02)))
    metrics.runs.settled(attempt)
    registry = metrics.all.registry
    labels = {"upstream": "default", "family": "openai", "model": "openai/sim"}
    assert registry.get_sample_value("signalbox_cost_usd_total", labels) == pytest.approx(0.02)
    assert registry.get_sample_value("signalbox_tokens_total", {**labels, "direction": "output"}) == 7


def test_an_embedded_app_has_its_metrics_below_its_path(tmp_path: Path) -> None:
    """Two of them in one process count separately, and apart from the host's own metrics."""
    apps = [mounted(tmp_path / name, **METRICS) for name in ("one", "two")]
    host = host_of(*apps)
    for name, app in zip(("one", "two"), apps, strict=True):
        host.mount(f"/{name}", app)
    with serving_host(host) as client:
        asked = client.post("/one/api/chat/stream", json={"model": "openai/sim", "prompt": "Hi", "tools": []})
        assert asked.status_code == 200
        assert client.get("/one/metrics").status_code == 401
        assert [scrape(client, f"/{name}/metrics").total("runs_total") for name in ("one", "two")] == [1, 0]
