"""Trials of a set: several at once, retried, limited by cost, and skipped if they have a result."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from signalbox.core.events import LoopName
from signalbox.core.messages import JsonObject
from signalbox.encoders.v1_whole import ChatAnswer
from signalbox.evals.client import EvalClient, FileEntry, Refusal, ServerUnusable
from signalbox.evals.execution import Progress, execute
from signalbox.evals.loading import LoadedSet
from signalbox.evals.results import Result, ResultsError, ResultsFile

from tests.unit.evals.answers import answer
from tests.unit.evals.conftest import Load

BUSY = Refusal("Too many runs.", "TOO_MANY_RUNS", retryable=True)
SET = """\
models = ["openai/sim"]
concurrency = 1
{more}
[[cases]]
id = "one"
prompt = "1"
expect.contains = "Hello"
[[cases]]
id = "two"
prompt = "2"
expect.contains = "Hello"
"""


class ScriptedServer:
    """Answers each question with the next script; a question may be awaited."""

    def __init__(self, *replies: object) -> None:
        self.replies = list(replies)
        self.bodies: list[JsonObject] = []
        self.loops: list[str | None] = []
        self.waits: list[float] = []
        self.seen: list[tuple[str, str, int, int]] = []

    async def ask(self, body: JsonObject, loop: LoopName | None) -> ChatAnswer | Refusal:
        self.bodies.append(body)
        self.loops.append(loop)
        reply = self.replies.pop(0) if self.replies else answer()
        if isinstance(reply, Exception):
            raise reply
        return cast("Any", await reply() if callable(reply) else reply)  # type: ignore[operator]

    async def files(self, conversation_id: str, run_id: str) -> list[FileEntry] | Refusal:
        return [FileEntry("index.html", 12), FileEntry("big.css", 900)]

    async def file(self, conversation_id: str, run_id: str, path: str) -> bytes | Refusal:
        return b"<h1>Tides</h1>" if path == "index.html" else Refusal("Not to be read.")

    async def pause(self, seconds: float) -> None:
        self.waits.append(seconds)

    def saw(self, result: Result, done: int, total: int) -> None:
        self.seen.append((result.case, "retry" if result.will_retry else result.outcome, done, total))

    async def execute(self, loaded: LoadedSet, results: ResultsFile, **options: Any) -> Progress:
        client = cast("EvalClient", self)
        return await execute(loaded, client, results, self.saw, pause=self.pause, **options)


def executed(loaded: LoadedSet, folder: Path, server: ScriptedServer, **options: Any) -> list[Result]:
    """Execute a set; return all results of its folder."""
    with ResultsFile(folder) as results:
        asyncio.run(server.execute(loaded, results, **options))
        return results.results


def test_each_trial_has_a_result(load: Load, tmp_path: Path) -> None:
    """A result has what a report needs: the outcome, its checks, cost, time and ids."""
    server = ScriptedServer(answer(), answer("Goodbye."))
    first, second = executed(load(SET.format(more="")), tmp_path, server)
    assert (first.outcome, second.outcome) == ("pass", "fail")
    assert (first.run_id, first.cost, first.duration_ms, first.served_loop) == ("a1", 0.001, 50, "v2")
    assert [check.name for check in second.failed_checks] == ["text contains “Hello”"]
    assert server.seen == [("one", "pass", 1, 2), ("two", "fail", 2, 2)]


def test_finished_trials_are_skipped(load: Load, tmp_path: Path) -> None:
    """Errors are executed again. Failures are results, and executed again only if that is asked for."""
    loaded = load(SET.format(more="retries = 0"))
    executed(loaded, tmp_path, ScriptedServer(answer("Goodbye."), BUSY))
    again = ScriptedServer()
    assert [one.outcome for one in executed(loaded, tmp_path, again)] == ["fail", "error", "pass"]
    assert again.seen == [("two", "pass", 2, 2)]
    third, fourth = ScriptedServer(), ScriptedServer()
    executed(loaded, tmp_path, third)
    assert third.bodies == []
    executed(loaded, tmp_path, fourth, failed_too=True)
    assert fourth.seen == [("one", "pass", 2, 2)]


def test_a_changed_case_is_executed_again(load: Load, tmp_path: Path) -> None:
    """Its earlier result was for another question."""
    executed(load(SET.format(more="")), tmp_path, ScriptedServer())
    again = ScriptedServer()
    executed(load(SET.format(more="").replace('prompt = "2"', 'prompt = "3"')), tmp_path, again)
    assert again.seen == [("two", "pass", 2, 2)]


def test_an_attempt_without_an_answer_is_retried(load: Load, tmp_path: Path) -> None:
    """After a growing pause, or the one that the server names. Each attempt is a line."""
    broken = answer("", status="error", retryable=True, retry_after=7.0, error="Overloaded.")
    server = ScriptedServer(BUSY, broken, answer())
    results = executed(load(SET.format(more="retries = 3")), tmp_path, server)
    assert [(one.case, one.attempt, one.outcome, one.will_retry) for one in results] == [
        ("one", 1, "error", True),
        ("one", 2, "error", True),
        ("one", 3, "pass", False),
        ("two", 1, "pass", False),
    ]
    assert server.waits == [0.5, 7.0]
    assert [kind for _, kind, _, _ in server.seen] == ["retry", "retry", "pass", "pass"]


@pytest.mark.parametrize(
    ("reply", "attempts"),
    [
        (BUSY, 3),
        (Refusal("There is no tool.", "INVALID_REQUEST"), 1),
        (Refusal("Tomorrow.", "RATE_LIMITED", retryable=True, retry_after=3600), 1),
        (answer("", status="error", retryable=False), 1),
        (answer("Goodbye."), 1),
        (answer("", status="length", retryable=True), 1),
    ],
)
def test_only_what_may_help_is_retried(load: Load, tmp_path: Path, reply: object, attempts: int) -> None:
    """A wrong answer is a result. Retrying it would hide how often a model is wrong."""
    server = ScriptedServer(*[reply] * 3)
    results = executed(load(SET.format(more="retries = 2")), tmp_path, server)
    assert sum(one.case == "one" for one in results) == attempts


def test_the_cost_of_all_runs_is_limited(load: Load, tmp_path: Path) -> None:
    """What was spent earlier counts; the rest is skipped, and executed once the limit is higher."""
    server = ScriptedServer(answer(cost=0.6))
    with ResultsFile(tmp_path) as results:
        progress = asyncio.run(server.execute(load(SET.format(more="max_cost = 0.5")), results))
        assert [one.question.case.id for one in progress.skipped] == ["two"]
        again = asyncio.run(server.execute(load(SET.format(more="max_cost = 0.55")), results))
        assert len(again.skipped) == 1
        last = asyncio.run(server.execute(load(SET.format(more="max_cost = 0.65")), results))
    assert (last.skipped, last.done) == ([], 2)
    assert len(server.bodies) == 2


@pytest.mark.parametrize("concurrency", [1, 3])
def test_trials_run_at_once(load: Load, tmp_path: Path, concurrency: int) -> None:
    """As many as the set allows, and no more."""
    at_once: list[int] = []
    now = 0

    async def slow() -> ChatAnswer:
        nonlocal now
        now += 1
        at_once.append(now)
        for _ in range(10):
            await asyncio.sleep(0)
        now -= 1
        return answer()

    text = SET.format(more="repeat = 4").replace("concurrency = 1", f"concurrency = {concurrency}")
    executed(load(text), tmp_path, ScriptedServer(*[slow] * 8))
    assert max(at_once) == concurrency


def test_no_answer_in_time(load: Load, tmp_path: Path) -> None:
    """The attempt ends as an error that may be retried."""

    async def never() -> ChatAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    server = ScriptedServer(never)
    first, second, _ = executed(load(SET.format(more="timeout = 0.05")), tmp_path, server)
    assert (first.outcome, first.error, first.code) == ("error", "No answer within 0.05 seconds.", "EVAL_TIMEOUT")
    assert (second.outcome, second.attempt) == ("pass", 2)


def test_a_server_that_ignores_the_loop(load: Load, tmp_path: Path) -> None:
    """The set ends at once, with what to do, and no result about the wrong loop is written."""
    server = ScriptedServer(answer(loop="v2"))
    with pytest.raises(ServerUnusable, match="SIGNALBOX_ALLOW_LOOP_HEADER=true"):
        executed(load(SET.format(more='loops = ["legacy"]')), tmp_path, server)
    assert server.loops == ["legacy"]
    with ResultsFile(tmp_path) as results:
        assert results.results == []


def test_a_server_that_cannot_be_used_ends_all_trials(load: Load, tmp_path: Path) -> None:
    """A token that is rejected is rejected for every trial."""
    server = ScriptedServer(ServerUnusable("The server rejects the token."))
    with pytest.raises(ServerUnusable, match="rejects the token"):
        executed(load(SET.format(more="")), tmp_path, server)
    assert len(server.bodies) == 1


def test_a_full_disk(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends with a sentence: results that cannot be kept must not be paid for."""

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    server = ScriptedServer()
    with pytest.raises(ResultsError, match=r"results\.ndjson cannot be written: No space left on device"):
        executed(load(SET.format(more="")), tmp_path, server)
    assert len(server.bodies) == 1


def _in_conversation(loaded: LoadedSet, folder: Path, server: ScriptedServer) -> list[object]:
    executed(loaded, folder, server)
    return [body.get("conversation_id") for body in server.bodies]


def test_files_are_those_of_a_separate_conversation(load: Load, tmp_path: Path) -> None:
    """Each attempt has a new one, so that the files of another attempt do not count."""
    files = 'expect.files = [{ path = "index.html", contains = "<h1>" }, { path = "big.css" }]'
    loaded = load(SET.format(more="").replace('prompt = "1"', f'prompt = "1"\n{files}'))
    server = ScriptedServer(BUSY)
    first, second, third = _in_conversation(loaded, tmp_path, server)
    assert str(first).startswith("eval-")
    assert second not in (None, first)
    assert third is None
    with ResultsFile(tmp_path) as results:
        _, one, _ = results.results
    assert (one.outcome, [file.path for file in one.files]) == ("pass", ["index.html", "big.css"])
    assert one.conversation_id == second


def test_files_that_cannot_be_read_are_an_error(load: Load, tmp_path: Path) -> None:
    """They are neither there nor absent."""
    files = 'expect.files = [{ path = "big.css", contains = "x" }]'
    loaded = load(SET.format(more="").replace('prompt = "1"', f'prompt = "1"\n{files}'))
    first, _ = executed(loaded, tmp_path, ScriptedServer())
    assert (first.outcome, first.error) == ("error", "Not to be read.")


def test_an_interruption_keeps_what_is_finished(load: Load, tmp_path: Path) -> None:
    """A cancelled trial has no result, so it is executed when the set continues."""
    loaded = load(SET.format(more=""))
    asked = asyncio.Event()

    async def never() -> ChatAnswer:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def interrupted(results: ResultsFile) -> None:
        work = asyncio.create_task(ScriptedServer(answer(), never).execute(loaded, results))
        await asked.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    with ResultsFile(tmp_path) as results:
        asyncio.run(interrupted(results))
        assert [one.case for one in results.results] == ["one"]
    again = ScriptedServer()
    executed(loaded, tmp_path, again)
    assert again.seen == [("two", "pass", 2, 2)]
