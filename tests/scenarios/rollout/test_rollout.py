"""The commands of docs/rollout.md, run in order against a real server."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.processes import WAIT, Process, serving
from tests.support.stream_reader import check_stream

pytestmark = pytest.mark.e2e

PAGE = (ROOT / "docs" / "rollout.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SETUP = BLOCKS[0]
ASK = {"model": "openai/sim", "prompt": "Hello!", "tools": []}


def block(words: str) -> str:
    """Return the one command of the page that contains these words."""
    [found] = [text for text in BLOCKS if words in text]
    return found


@dataclass(frozen=True)
class Operator:
    """A shell in the folder where the server was started."""

    process: Process
    folder: Path

    def types(self, *texts: str) -> str:
        """Run commands in one shell, with only the address changed; return their output."""
        script = "\n".join([SETUP, *texts]).replace("http://127.0.0.1:8000", self.process.url)
        ended = subprocess.run(
            ["sh", "-eu", "-c", script], cwd=self.folder, capture_output=True, timeout=WAIT, check=False, text=True
        )
        assert ended.returncode == 0, (texts, ended.stderr)
        return ended.stdout

    def asks(self) -> tuple[str, str]:
        """Send a question; return loop and reason."""
        with self.process.client() as client:
            done = check_stream(client.post("/api/chat/stream", json=ASK).content).done
        return done["loop"], done["flag"]["reason"]

    def newest(self) -> str:
        """Return the id of the newest run."""
        with self.process.client() as client:
            return client.get("/api/runs?limit=1").json()["runs"][0]["run_id"]


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    """Start a server as in the README."""
    if shutil.which("curl") is None:
        pytest.skip("the runbook's commands need curl")
    with serving(tmp_path) as process:
        yield Operator(process, tmp_path)


def test_the_rollback_works_as_written(operator: Operator) -> None:
    """After the page's commands the override is off, and the next question runs on legacy."""
    operator.types(block('{"state":"on"}'))
    assert operator.asks() == ("v2", "STATIC")
    told = operator.types(block('{"state":"off"}'), block("^x-(tool-loop|run-id)"))
    standing, _, headers = told.partition("}")
    assert json.loads(standing + "}")["state"] == "off"
    assert "x-tool-loop: legacy" in headers.lower().splitlines()
    assert f"x-run-id: {operator.newest()}" in headers.lower().splitlines()
    assert operator.asks() == ("legacy", "STATIC")


def test_a_rollback_takes_less_than_a_second(operator: Operator) -> None:
    """A rollback applies to the next run; measured from the command to the end of the first run on legacy."""
    operator.types(block('{"state":"on"}'))
    took: list[float] = []
    for _ in range(3):
        began = time.monotonic()
        assert "legacy" in operator.types(block('{"state":"off"}'), block("^x-(tool-loop|run-id)"))
        took.append(time.monotonic() - began)
    print("rollback, with curl:", *(f"{seconds * 1000:.0f} ms" for seconds in took))
    assert min(took) < 1


def test_the_shares_work_as_written(operator: Operator) -> None:
    """Each step of the rollout is stored, and the override can be read."""
    for words, percent in (('"percent":10', 10), ('"percent":50', 50)):
        assert json.loads(operator.types(block(words)))["percent"] == percent
    [reading] = [text for text in BLOCKS if text.endswith(' "$BASE/api/flags/tool_loop_v2"\n')]
    told = json.loads(operator.types(reading))
    assert (told["state"], told["percent"]) == ("percent", 50)
    assert operator.asks()[1] == "SPLIT"


def test_a_guarded_rollout_works_as_written(operator: Operator) -> None:
    """The plan starts at 5 percent, can be read and ended, and the audit log has both changes."""
    operator.types(block("--data '{}'"))
    assert operator.asks()[1] == "SPLIT"
    state = json.loads(operator.types(block('"$BASE/api/rollout" |')))
    assert (state["plan"]["state"], state["plan"]["percent"]) == ("running", 5)
    assert json.loads(operator.types(block("-X DELETE")))["plan"]["state"] == "ended"
    entries = json.loads(operator.types(block("rollout/audit")))["entries"]
    assert [one["action"] for one in entries] == ["rollout.ended", "rollout.started"]


def test_observing_a_percentage_works_as_written(operator: Operator) -> None:
    """After the percentage is set by hand, the plan has it, and leaves the flag alone."""
    operator.types(block('"percent":10'), block('"mode":"observe"'))
    state = json.loads(operator.types(block('"$BASE/api/rollout" |')))
    assert (state["plan"]["mode"], state["plan"]["percent"]) == ("observe", 10)
    assert json.loads(operator.types(block("-X DELETE")))["plan"]["state"] == "ended"


def test_watching_and_explaining_work_as_written(operator: Operator) -> None:
    """The counts are by loop and status; a run can be stopped and explained by the id that the page's command finds."""
    operator.types(block('{"state":"on"}'))
    for _ in range(3):
        operator.asks()
    operator.types(block('{"state":"off"}'))
    operator.asks()
    counted = operator.types(block("collections.Counter")).splitlines()
    assert counted == ["('legacy', 'complete', '') 1", "('v2', 'complete', '') 3"]
    stop = re.sub(r"(?<=RUN=)\w{32}", operator.newest(), block("/stop"))
    told = operator.types(stop, block('"$BASE/api/runs/$RUN"\n'))
    _, _, trace = told.partition("}")
    run = json.loads(trace)
    assert run["done"]["flag"] == {"variant": "legacy", "reason": "STATIC"}
    assert {"attempts", "tools", "warnings"} <= set(run)
    assert {"step", "number", "final", "finish_reason", "error", "first_part"} <= set(run["attempts"][0])


def test_the_log_has_the_fields_that_the_page_names(operator: Operator) -> None:
    """Each run's line has the fields to compare, and each override change has a separate line."""
    operator.types(block('"percent":10'))
    operator.asks()
    lines = [json.loads(line) for line in operator.process.errors().splitlines()]
    [pulled] = [line for line in lines if line["event"] == "flag.override_set"]
    assert (pulled["state"], pulled["percent"]) == ("percent", 10)
    [run] = [line for line in lines if line["event"] == "run.finished"]
    named = {"loop", "status", "code", "steps", "attempts", "seconds", "input", "output", "cost"}
    assert named <= set(run)
    section = PAGE[PAGE.index("Watching V2") :]
    assert all(f"`{name}`" in section for name in named)


def test_the_kill_switch_works_as_written(tmp_path: Path) -> None:
    """The page's setting puts every run on legacy, whatever the override is."""
    [setting] = re.findall(r"^```text\n(\w+)=(\w+) \./just start\n```$", PAGE, re.MULTILINE)
    with serving(tmp_path) as process:
        Operator(process, tmp_path).types(block('{"state":"on"}'))
    began = time.monotonic()
    with serving(tmp_path, env=dict([setting])) as process:
        assert Operator(process, tmp_path).asks() == ("legacy", "DISABLED")
        print(f"kill switch, start to first answer: {time.monotonic() - began:.1f} s")
    with serving(tmp_path) as process:
        assert Operator(process, tmp_path).asks() == ("v2", "STATIC")


def test_every_command_sends_the_token(tmp_path: Path) -> None:
    """Each command sends the token, so it works where one is required."""
    asking = [text for text in BLOCKS if "curl " in text]
    assert [text for text in asking if text.count("curl ") != text.count("Authorization: Bearer $TOKEN")] == []
    with serving(tmp_path, env={"SIGNALBOX_REQUIRE_TOKEN": "true"}) as process:
        told = Operator(process, tmp_path).types(block("^x-(tool-loop|run-id)"), block("collections.Counter"))
    assert "('v2', 'complete', '') 1" in told


def test_every_command_of_the_page_is_tried() -> None:
    """A new block of the page needs a test here."""
    tried = [
        *("TOKEN=$(cat", '{"state":"off"}', "^x-(tool-loop|run-id)", "/stop", '"percent":10', '"percent":50'),
        *("--data '{}'", '"mode":"observe"', '"$BASE/api/rollout" |', "-X DELETE", "rollout/audit"),
        *('{"state":"on"}', 'flags/tool_loop_v2"\n', "collections.Counter", '/api/runs/$RUN"\n'),
    ]  # fmt: skip
    assert [sum(words in text for text in BLOCKS) for words in tried] == [1] * len(tried)
    assert len(BLOCKS) == len(tried)
