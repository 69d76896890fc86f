"""The Python client while a real server stops, crashes and starts again on the same port and data folder."""

import json
import signal
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest
from signalbox_client import Content, Event

from tests.project.docs.test_clients import port_of, server
from tests.scenarios.crash.restarts import journal, kill, until
from tests.scenarios.python_client.conftest import KINDS, read_run
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, says

pytestmark = pytest.mark.e2e
BOTH = pytest.mark.parametrize("kind", KINDS)


async def _half(exchange: Exchange) -> None:
    await exchange.head()
    await exchange.send_text("First ")
    await exchange.gate_opened()
    await exchange.end()


@BOTH
def test_a_crash_in_mid_answer_is_read_to_its_ending(tmp_path: Path, kind: str) -> None:
    """After kill -9 and a new start, the events are those that the server has, each once, up to `Done`."""
    with ExitStack() as stack:
        upstream = stack.enter_context(ScriptedUpstream(_half))
        servers = [stack.enter_context(server(tmp_path, upstream))]

        def restart(event: Event) -> None:
            if isinstance(event, Content):
                until(lambda: "First " in json.dumps(journal(tmp_path, str(event.raw["run_id"]))))
                kill(servers[0])
                servers.append(stack.enter_context(server(tmp_path, upstream, port_of(servers[0]))))

        events, answer = read_run(kind, servers[0].url, restart, prompt="Hello!", tools=[])
        with servers[1].client() as reader:
            kept = reader.get(f"/api/runs/{answer.run_id}/events").text
    lines = [line for line in kept.splitlines() if line.startswith("data: ")]
    assert [event.raw for event in events] == [json.loads(line[6:]) for line in lines]
    assert (answer.status, answer.done.code, answer.text) == ("interrupted", "SERVER_CRASH", "First ")
    assert len(upstream.asked) == 1


@BOTH
def test_a_restart_between_questions_is_waited_for(tmp_path: Path, kind: str) -> None:
    """While no server listens, the client retries; the next server answers the question once."""
    with ExitStack() as stack:
        upstream = stack.enter_context(ScriptedUpstream(says("Well met.")))
        first = stack.enter_context(server(tmp_path, upstream))
        first.process.send_signal(signal.SIGTERM)
        assert first.end() == 0
        starting = threading.Thread(target=lambda: stack.enter_context(server(tmp_path, upstream, port_of(first))))
        starting.start()
        _, answer = read_run(kind, first.url, prompt="Hello!", tools=[])
        starting.join()
    assert (answer.status, answer.text, len(upstream.asked)) == ("complete", "Well met.", 1)
