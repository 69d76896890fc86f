"""What a run costs in CPU time and memory, and whether many runs of one process all end well."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.comparison.libraries import LIBRARIES, Library
from tests.comparison.observation import read_executions
from tests.comparison.program import Program
from tests.comparison.stories import Reply, answers, call, calls, frames_of
from tests.support.scripted_upstream import Exchange, ScriptedUpstream

SERVER_LOOP = Library("server loop", "signalbox", "server_loop_program.py", "", "/api/v1")
TARGETS = (SERVER_LOOP, *LIBRARIES)
# A run of the row: some text and a call, then an answer.
_TEXT, _ANSWER = "I will look this up. " * 4, "It costs three dollars, I think. " * 10
_PRICE = calls(call("price", item="screw"), text=_TEXT)
_CLOSED_WITHIN = 2.0


class _Upstream(ScriptedUpstream):
    """Replies with a call to a question, and with an answer to a result; connections stay open."""

    def __init__(self, path: str) -> None:
        super().__init__(self._play, path=path)

    def _is_chat(self, path: str) -> bool:
        return True

    async def _play(self, exchange: Exchange) -> None:
        body = exchange.asked.body
        reply = self.reply_to(body["messages"]) if _has_result(body) else await self.call_for(body["messages"])
        data = b"".join(frames_of(reply, exchange, 1 + len(body["messages"])))
        exchange.keep = True
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        await exchange.raw(b"%b%x\r\n%b\r\n0\r\n\r\n" % (head, len(data), data))

    async def call_for(self, messages: list[dict[str, Any]]) -> Reply:
        """Return the reply to a question."""
        return _PRICE

    def reply_to(self, messages: list[dict[str, Any]]) -> Reply:
        """Return the reply to a result."""
        return answers(_ANSWER)


def _has_result(body: dict[str, Any]) -> bool:
    return len(body["messages"]) > 1


def cpu_per_run(targets: Sequence[Library], rounds: int, runs: int) -> dict[str, list[float]]:
    """Return the CPU seconds per run of each target in each round; odd rounds reverse the order."""
    spent: dict[str, list[float]] = {target.name: [] for target in targets}
    with ExitStack() as stack:
        pairs = [
            (stack.enter_context(Program(target)), stack.enter_context(_Upstream(target.path))) for target in targets
        ]
        for number in range(rounds):
            for program, upstream in pairs[:: -1 if number % 2 else 1]:
                seen = program.ask(action="cost", base_url=upstream.base_url, log="", runs=runs)
                if "value" not in seen:
                    raise RuntimeError(f"{program.library.name}: {seen}")
                spent[program.library.name].append(seen["value"])
    return spent


# --- many runs at once ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Crowd:
    """The outcome of many runs at once. `kib`: additional memory per run while all wait for their first reply."""

    runs: int
    answered: int
    executed: int
    calls: int
    requests: int
    most_connections: int
    open_connections: int
    seconds: float
    kib: float

    @property
    def is_complete(self) -> bool:
        """Whether each run has its answer, each call ran once, and no connection is open."""
        return (
            self.answered == self.executed == self.calls == self.runs
            and self.requests == 2 * self.runs
            and self.open_connections == 0
        )


class _CrowdUpstream(_Upstream):
    """Replies to no question before all runs have asked theirs; then `kib` is the memory of their process."""

    def __init__(self, path: str, runs: int, pid: int) -> None:
        super().__init__(path)
        self._runs = runs
        self._pid = pid
        self._all_have_asked = asyncio.Event()
        self.open_connections = self.most_connections = 0
        self.kib = 0.0

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open_connections += 1
        try:
            await super()._serve_connection(reader, writer)
        finally:
            self.notify(self._count_closed)

    def _count_closed(self) -> None:
        self.open_connections -= 1

    async def call_for(self, messages: list[dict[str, Any]]) -> Reply:
        """Wait until every run has asked; then call the tool with the question's number."""
        if len(self.asked) == self._runs:
            self.most_connections, self.kib = self.open_connections, _memory_kib(self._pid)
            self._all_have_asked.set()
        await self._all_have_asked.wait()
        return calls(call("look", path=_number_in(messages)))

    def reply_to(self, messages: list[dict[str, Any]]) -> Reply:
        """Answer with the question's number."""
        return answers(f"Seen {_number_in(messages)}.")


def _number_in(messages: list[dict[str, Any]]) -> str:
    return str(messages[0]["content"]).rstrip(".").rpartition(" ")[2]


def crowd(library: Library, runs: int) -> Crowd:
    """Run many runs at the same time in one process."""
    with tempfile.TemporaryDirectory(prefix="comparison-") as folder, Program(library) as program:
        _run_crowd(program, 2, Path(folder) / "warm-up")
        return _run_crowd(program, runs, Path(folder) / "executions")


def _run_crowd(program: Program, runs: int, log: Path) -> Crowd:
    before = _memory_kib(program.pid)
    with _CrowdUpstream(program.library.path, runs, program.pid) as upstream:
        began = time.monotonic()
        seen = program.ask(action="crowd", base_url=upstream.base_url, log=str(log), runs=runs)
        seconds = time.monotonic() - began
        upstream.wait_until(lambda: not upstream.open_connections, _CLOSED_WITHIN)
        open_connections = upstream.open_connections
    if "value" not in seen:
        raise RuntimeError(f"{program.library.name}: {seen}")
    executions = read_executions(log.read_text(encoding="utf-8").splitlines())
    return Crowd(
        runs=runs,
        answered=seen["value"],
        executed=len(executions),
        calls=len({one.arguments for one in executions}),
        requests=len(upstream.asked),
        most_connections=upstream.most_connections,
        open_connections=open_connections,
        seconds=seconds,
        kib=(upstream.kib - before) / runs,
    )


def _memory_kib(pid: int) -> float:
    """Return the resident memory of a process; 0 where the system does not tell."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0.0
    return next(float(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmRSS"))
