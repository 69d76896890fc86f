"""Chats that switch between models and APIs: all ordered pairs, with tools and reasoning in the history."""

from collections.abc import Iterator
from itertools import product

import pytest
from signalbox.core.events import LoopName
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.conversation_recovery.chat import Chat
from tests.scenarios.conversation_recovery.cut_runs import FAMILIES
from tests.support.running_app import RunningApp, settings_for
from tests.support.stream_reader import ParsedStream, check_stream

UPSTREAM = """\
[[upstream]]
name = "{name}"
dialect = "{dialect}"
base_url = "{base_url}"
key = "file:any.key"
timeout = 5
rename = {{ {rename} }}

"""
# Name, dialect, path of the base URL, and the vendor whose models are served under their own ids.
APIS = (
    ("router", "openrouter-chat", "/api/v1", ""),
    ("chat", "openai-chat", "/openai/v1", "openai"),
    ("responses", "openai-responses", "/openai/v1", "openai"),
    ("messages", "anthropic-messages", "/anthropic", "anthropic"),
    ("gemini", "gemini", "/gemini", "google"),
)
ROUTED = tuple(f"router@{family}/sim" for family in FAMILIES)
NATIVE = ("chat@openai/sim", "responses@openai/sim", "messages@anthropic/sim", "gemini@google/sim")
PAIRS = [pair for pair in product((*ROUTED, *NATIVE), repeat=2) if set(pair) - set(ROUTED)]
QUESTIONS = ("What is 17 * 23?", "What is 4 + 4, and what time is it in Lima?", "What is 2 ** 10?")
LOOPS: tuple[LoopName, ...] = ("v2", "legacy")
THINK = {"effort": "medium"}


@pytest.fixture(scope="module")
def app(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Run one app whose upstreams are the five APIs of the simulator."""
    folder = tmp_path_factory.mktemp("switching")
    (folder / "any.key").write_text("unused\n", encoding="utf-8")
    origin = f"http://{simulator.host}:{simulator.port}"
    file = folder / "upstreams.toml"
    text = "".join(
        UPSTREAM.format(
            name=name, dialect=dialect, base_url=origin + path, rename=f'"{vendor}/*" = "*"' if vendor else ""
        )
        for name, dialect, path, vendor in APIS
    )
    file.write_text(text, encoding="utf-8")
    made = settings_for(folder / "data", signalbox_upstreams=file, signalbox_allow_loop_header=True)
    with RunningApp(made) as running:
        yield running


def ask(chat: Chat, model: str, question: str, loop: LoopName) -> ParsedStream:
    """Ask a question whose requests the API must all accept."""
    chat.simulator.state.requests.clear()
    answer = chat.ask(model, question, loop, reasoning=THINK)
    assert answer.done["status"] == "complete", answer.done
    received = [request for request in chat.simulator.state.requests if request.body is not None]
    assert [request.status for request in received] == [200] * answer.done["steps"]
    assert answer.calls
    return answer


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_any_two_take_turns(app: RunningApp, simulator: BackgroundSimulator, one: str, other: str) -> None:
    """Three turns, A B A, complete without a rejected request; calls and results of the others are in the history."""
    chat = Chat(app, simulator)
    shift = PAIRS.index((one, other))
    for turn, question in enumerate(QUESTIONS):
        answer = ask(chat, (one, other)[turn % 2], question, LOOPS[(turn + shift) % 2])
        assert ("391", "8", "1024")[turn] in answer.text


@pytest.mark.parametrize("loop", LOOPS)
def test_a_stored_conversation_walks_over_all_apis(
    app: RunningApp, simulator: BackgroundSimulator, loop: LoopName
) -> None:
    """A conversation that the server keeps continues at each API in turn."""
    for model in (*NATIVE, ROUTED[0], *NATIVE[::-1]):
        simulator.state.requests.clear()
        body = {"model": model, "prompt": QUESTIONS[0], "reasoning": THINK, "conversation_id": f"walk-{loop}"}
        response = app.client.post("/api/chat/stream", json=body, headers={"x-tool-loop": loop})
        answer = check_stream(response.content)
        assert answer.done["status"] == "complete", answer.done
        assert {request.status for request in simulator.state.requests if request.body is not None} == {200}
        assert "391" in answer.text
