"""A rollout on real processes: it goes on after `kill -9` of the worker that evaluates it, and after restarts."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.scenarios.rollout.test_guard import FLAG, HALF, OPERATOR, WHOLE
from tests.support.processes import WAIT, Process, serving
from tests.support.scripted_upstream import Exchange, ScriptedUpstream
from tests.support.workers import within

pytestmark = pytest.mark.e2e

ASKED = 12


class Upstream:
    """Answers, but breaks streamed answers once it `hurts`, which hurts only V2."""

    hurts = False

    async def answer(self, exchange: Exchange) -> None:
        """Answer one request."""
        if not exchange.asked.body.get("stream"):
            await exchange.whole(200, json.dumps(WHOLE).encode())
            return
        await exchange.head()
        await exchange.send_text("Hello.")
        if self.hurts:
            exchange.writer.close()
        else:
            await exchange.end()


class Server:
    """A client of one process."""

    def __init__(self, process: Process, stack: ExitStack) -> None:
        self.process = process
        self.client: httpx.Client = stack.enter_context(process.client(headers=OPERATOR))

    def asks(self, numbers: range) -> list[str]:
        """Ask in new conversations; return their loops."""
        loops: list[str] = []
        for number in numbers:
            body = {"model": "some/model", "prompt": "Hello!", "conversation_id": f"chat-{number}"}
            loops.append(self.client.post("/api/chat", json=body).headers["x-tool-loop"])
        return loops

    def rollout(self) -> dict[str, Any]:
        """Return the state of the rollout."""
        return self.client.get("/api/rollout").json()

    def seen(self) -> int:
        """Return how many runs of the stage the guard has seen."""
        report = self.rollout()["report"]
        return sum(report["figures"]["stage"][loop]["runs"] for loop in ("v2", "legacy")) if report else 0


def environment(upstream: ScriptedUpstream, **given: str) -> dict[str, str]:
    """Return the settings of a worker."""
    return {
        "OPENROUTER_BASE_URL": upstream.base_url,
        "OPENROUTER_API_KEY": "sk-or-v1-test",
        "SIGNALBOX_ADMIN_TOKEN": OPERATOR["authorization"].removeprefix("Bearer "),
        "SIGNALBOX_DRAIN_SECONDS": "0",
        **given,
    }


def test_another_worker_goes_on_after_a_kill(tmp_path: Path, postgres_url: str) -> None:
    """The second worker has the same stage, time and figures, and takes V2 back when it becomes worse."""
    script = Upstream()
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    with ScriptedUpstream(script.answer) as upstream, ExitStack() as stack:
        env = environment(upstream, DATABASE_URL=postgres_url)
        first = Server(stack.enter_context(serving(folders[0], env=env)), stack)
        first.client.put("/api/rollout", json=HALF).raise_for_status()
        first.asks(range(ASKED))
        within(WAIT, lambda: first.seen() == ASKED)
        second = Server(stack.enter_context(serving(folders[1], env=env)), stack)
        first.process.process.kill()
        first.process.process.wait(WAIT)
        before = second.rollout()
        within(WAIT, lambda: second.rollout()["report"]["at"] > before["report"]["at"])
        after = second.rollout()
        assert after["plan"] == before["plan"]
        assert after["report"]["figures"]["stage"] == before["report"]["figures"]["stage"]
        script.hurts = True
        asked = ASKED
        while second.rollout()["plan"]["state"] == "running":
            assert asked < 400
            second.asks(range(asked, asked + 4))
            asked += 4
        assert second.rollout()["plan"]["state"] == "rolled_back"
        within(1, lambda: second.client.get(FLAG).json()["state"] == "off")


def test_a_restart_keeps_stage_time_and_figures(tmp_path: Path) -> None:
    """Also with the kill switch in between: then every run uses legacy, and the plan waits."""
    with ScriptedUpstream(Upstream().answer) as upstream:
        env = environment(upstream)
        with ExitStack() as stack:
            server = Server(stack.enter_context(serving(tmp_path, env=env)), stack)
            server.client.put("/api/rollout", json=HALF).raise_for_status()
            assert set(server.asks(range(ASKED))) == {"v2", "legacy"}
            within(WAIT, lambda: server.seen() == ASKED)
            before = server.rollout()
        with ExitStack() as stack:
            server = Server(stack.enter_context(serving(tmp_path, env={**env, "TOOL_LOOP_V2": "false"})), stack)
            assert set(server.asks(range(ASKED, 2 * ASKED))) == {"legacy"}
            within(WAIT, lambda: "TOOL_LOOP_V2=false is set" in server.rollout()["assessment"])
        with ExitStack() as stack:
            server = Server(stack.enter_context(serving(tmp_path, env=env)), stack)
            within(WAIT, lambda: server.rollout()["assessment"].startswith("No sign of harm so far"))
            after = server.rollout()
            assert after["plan"] == before["plan"]
            assert after["report"]["figures"]["stage"] == before["report"]["figures"]["stage"]
            assert after["report"]["missing"]["minutes"] < before["report"]["missing"]["minutes"] < 60
            assert server.client.get(FLAG).json()["percent"] == 50
            assert set(server.asks(range(2 * ASKED, 3 * ASKED))) == {"v2", "legacy"}
