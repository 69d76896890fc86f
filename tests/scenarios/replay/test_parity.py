"""`signalbox parity`: all scenarios, all recordings, journals, and a difference that it must report."""

import json
from pathlib import Path
from typing import Any

import pytest
from signalbox.commands.parity_scenarios import scenarios
from signalbox.simulator.faults.scripted import example_ids

from tests.scenarios.replay.conftest import Command, Folder, ask
from tests.support.processes import command, serving
from tests.support.scripted_upstream import DONE, Exchange, ScriptedUpstream, chunk


def test_the_loops_agree_on_every_scenario(tmp_path: Path, run_command: Command) -> None:
    """Only expected differences occur; the report ends with advice, and the folder stays empty."""
    said = run_command("parity", cwd=tmp_path)
    lines = said.out.splitlines()
    assert said.status == 0, lines[-40:]
    assert lines[-1].startswith(f"{len(scenarios())} cases on both loops, answered by the simulator: ")
    assert lines[-1].endswith("0 different unexpectedly. Nothing prevents raising the flag.")
    assert len([line for line in lines if line.startswith(("same ", "expected "))]) == len(scenarios())
    assert "expected  openai/sim-cut: text, reasoning" in lines
    assert any("so it cannot retry a step that fails after that" in line for line in lines)
    # The app of an earlier test in this process may still fetch a final cost, and log it.
    assert [line for line in said.err.splitlines() if "settlement.finished" not in line] == []
    assert [*tmp_path.iterdir()] == []


def test_every_fault_and_quirk_is_a_scenario() -> None:
    """Every fault and quirk of the simulator is a scenario with a unique name."""
    models = [trial.case.model.partition("/")[2] for trial in scenarios()]
    assert set(example_ids()) <= set(models)
    names = [trial.case.name for trial in scenarios()]
    assert len(names) == len(set(names))


def test_the_loops_agree_on_the_recordings(recordings: Path, tmp_path: Path, run_command: Command) -> None:
    """Recorded responses give both loops the same results, apart from order."""
    said = run_command("parity", "--recordings", str(recordings), "--json", cwd=tmp_path)
    report = said.report
    assert said.status == 0
    assert len(report["cases"]) > 50
    assert {one["kind"] for case in report["cases"] for one in case["differences"]} <= {"order"}
    assert sum(len(case["v2"]["calls"]) for case in report["cases"]) > 20


def test_journals_go_through_both_loops(folder: Folder) -> None:
    """The newest runs of a running server give only expected differences."""
    done = command("parity", "--newest", "5", "--json", cwd=folder.path)
    report = json.loads(done.stdout)
    assert (done.returncode, len(report["cases"]), report["unexpected"]) == (0, 3, 0)
    assert [case["model"] for case in report["cases"]] == ["google/sim", "openai/sim", "openai/sim"]
    assert [bool(case["v2"]["calls"]) for case in report["cases"]] == [True, False, True]
    assert not any(case["unrecorded"] for case in report["cases"])


def test_a_copy_goes_through_both_loops(folder: Folder, tmp_path: Path, run_command: Command) -> None:
    """A file and a run can be compared together; each has its line."""
    said = run_command("parity", str(folder.save), folder.run, cwd=folder.path)
    assert said.status == 0
    first, second = said.out.splitlines()[:2]
    assert f" {folder.second} google/sim" in first
    assert first.endswith(" [then: complete, search_web]")
    assert second.endswith("[then: complete, get_current_time, calculate, search_web]")
    assert said.out.rstrip().endswith("Nothing prevents raising the flag.")


async def _sound_as_a_whole_alone(exchange: Exchange) -> None:
    """Answer well if one body is requested, and with an error if a stream is."""
    if exchange.asked.body["stream"]:
        await exchange.head()
        await exchange.send(chunk({}, finish="error", error={"code": 400, "message": "No."}) + DONE)
        await exchange.raw(b"0\r\n\r\n")
        return
    message = {"role": "assistant", "content": "Well."}
    body: dict[str, Any] = {"id": "g", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    await exchange.whole(200, json.dumps(body).encode())


def test_a_difference_that_must_not_be_ends_in_one(tmp_path: Path) -> None:
    """If V2 fails and legacy does not, the exit status is 1 and the report shows both sides and advises to wait."""
    with ScriptedUpstream(_sound_as_a_whole_alone) as upstream:
        env = {"OPENROUTER_BASE_URL": upstream.base_url, "OPENROUTER_API_KEY": "sk-of-a-test"}
        with serving(tmp_path, env={**env, "TOOL_LOOP_V2": "false"}) as server, server.client() as client:
            run = ask(client, "Well?")
        done = command("parity", run, cwd=tmp_path, env=env)
    text = done.stdout.decode()
    assert done.returncode == 1
    assert text.startswith(f"DIFFERS   {run} openai/sim: ending, code")
    assert "    legacy: complete\n" in text
    assert "    v2: error\n" in text
    assert "[then: " in text.splitlines()[0]
    assert "1 case on both loops, answered by a real model (text, calls, steps and cost may differ by chance): " in text
    assert text.rstrip().endswith("Do not raise the flag until each of them is explained.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--recordings", "."], "contains no recordings"),
        (["nosuch"], "There is no database"),
        (["nosuch", "--newest", "2"], "Give either run ids, or one of"),
    ],
)
def test_what_cannot_be_done_is_two(tmp_path: Path, run_command: Command, arguments: list[str], words: str) -> None:
    """A folder without recordings, an unknown run and two sources give an error and exit status 2."""
    said = run_command("parity", *arguments, cwd=tmp_path)
    assert (said.status, said.out) == (2, "")
    assert words in said.err
