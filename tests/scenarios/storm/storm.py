"""The storm: many concurrent runs against a real server, each checked, then a check for leaks."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from signalbox.encoders.check import StreamCheck, first_stream_fault
from signalbox.wire.sse import SseDecoder

from tests.scenarios.storm.client import Asked, fetch
from tests.scenarios.storm.jobs import Job
from tests.scenarios.storm.tool_names import INSIDE
from tests.support.processes import Process

RUN_SECONDS = 90.0
QUIET_SECONDS = 60.0
ALIKE = 200  # runs before each measurement, which fill pools, caches and the database's log
SHOWN = 10
# Memory that an idle server may hold after a storm, relative to before, and how soon.
MAY_HOLD = 1.5
RECOVERY_SECONDS = 60.0


@dataclass(slots=True)
class Look:
    """What the server's process held at one moment; `done` runs had been requested by then."""

    done: int
    rss: int
    tasks: int
    sockets: int
    files: list[str]
    live: int
    written: int
    twice: int
    names: list[Any]


@dataclass(slots=True)
class Figures:
    """The storm's results.

    `dishonest` are endings of cut streams that do not match what was received. Memory that the server holds: `idle`
    before the storm, `peak` at most, and `left` when it has recovered or at the deadline, `left_seconds` after the last
    run.
    """

    seed: int
    runs: int = 0
    valid: int = 0
    beginnings: int = 0
    endings: Counter[str] = field(default_factory=Counter[str])
    codes: Counter[str] = field(default_factory=Counter[str])
    did: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    invalid: list[str] = field(default_factory=list[str])
    dishonest: list[str] = field(default_factory=list[str])
    hung: list[str] = field(default_factory=list[str])
    to_write: int = 0
    cuts: int = 0
    seconds: float = 0.0
    most_sockets: int = 0
    looks: dict[str, Look] = field(default_factory=dict[str, Look])
    idle: int = 0
    peak: int = 0
    left: int = 0
    left_seconds: float = 0.0

    def leaks(self) -> dict[str, int]:
        """Return what is there at the end and was not at the start."""
        start, end = self.looks["start"], self.looks["end"]
        return {
            "tasks": end.tasks - start.tasks,
            "sockets": end.sockets - start.sockets,
            "files": len(set(end.files) - set(start.files)),
            "runs": end.live,
        }

    def growth(self) -> float:
        """Return the relative growth of memory since the first measurement after enough runs."""
        return self.looks["end"].rss / self.looks["first"].rss - 1


@dataclass
class Storm:
    """One storm against a server.

    More than `most_sockets` sockets abort the storm. `plain` runs, all alike, precede each measurement, so that the
    server's caches are equal at both.
    """

    port: int
    figures: Figures
    at_once: int
    limit: float
    most_sockets: int
    say: Callable[[str], None] = lambda line: None
    plain: int = ALIKE
    _is_off: bool = False

    async def blow(self, jobs: Sequence[Job], first: int) -> Figures:
        """Run `first` jobs, measure, run the others, measure again."""
        started = time.monotonic()
        await self._run_all(_plain("start", 1))  # what the server opens with its first run is no leak
        self.figures.idle = self.figures.peak = (await self._look()).rss
        self.figures.looks["start"] = await self._quiet()
        watching = asyncio.create_task(self._watch())
        try:
            async with asyncio.timeout(self.limit):
                for name, part in (("first", jobs[:first]), ("end", jobs[first:])):
                    await self._run_all([*part, *_plain(name, self.plain)])
                    await self._recovered()
                    self.figures.looks[name] = await self._quiet()
                    self.say(f"{self.figures.runs} runs, {time.monotonic() - started:.0f} s")
        except TimeoutError:
            self.figures.hung.append(f"called off after {self.limit:.0f} s")
            for name in ("first", "end"):
                self.figures.looks.setdefault(name, await self._look())
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        self.figures.seconds = time.monotonic() - started
        return self.figures

    async def _run_all(self, jobs: Sequence[Job]) -> None:
        following = iter(jobs)
        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.at_once, len(jobs))):
                group.create_task(self._work(following))

    async def _work(self, following: Iterator[Job]) -> None:
        for job in following:
            if self._is_off:
                return
            self.figures.runs += 1
            try:
                async with asyncio.timeout(RUN_SECONDS):
                    await self._one(job)
            except (TimeoutError, ConnectionError, asyncio.IncompleteReadError) as error:
                self.figures.hung.append(f"{type(error).__name__}: {job}")

    # --- one run --------------------------------------------------------------------------------------------

    async def _one(self, job: Job) -> None:
        self.figures.did[job.does] += 1
        headers = {"x-tool-loop": job.loop}
        async with Asked(self.port, "POST", "/api/chat/stream", job.body, headers) as asked:
            if job.does == "leave at once":
                return
            await asked.answer()
            if asked.status != 200:
                self.figures.refused[str(asked.status)] += 1
                self.figures.hung.append(f"refused with {asked.status}: {await asked.rest()!r}")
                return
            whole = await self._attend(job, asked)
        if whole:
            self._judge(job, asked.body)
        else:
            self._judge_beginning(job, asked.body)
            await self._follow(job, asked.run_id)

    async def _attend(self, job: Job, asked: Asked) -> bool:
        """Read, and after this many frames do what this client does; return whether the end was read."""
        frames = 0
        has_acted = job.does == "read"
        async for piece in asked.pieces():
            frames += piece.count(b"\n\n")
            if job.does == "dawdle":
                await asyncio.sleep(0.005)
            elif not has_acted and frames >= job.frames:
                has_acted = True
                if job.does == "leave":
                    return False
                await fetch(self.port, "POST", f"/api/runs/{asked.run_id}/stop")
        return True

    async def _follow(self, job: Job, run_id: str) -> None:
        """Read the rest of an abandoned run from its journal."""
        async with Asked(self.port, "GET", f"/api/runs/{run_id}/events") as asked:
            await asked.answer()
            body = await asked.rest()
        if asked.status == 200:
            self._judge(job, body)
        else:
            self.figures.hung.append(f"not to be followed, {asked.status}: {job}")

    # --- judging --------------------------------------------------------------------------------------------

    def _judge(self, job: Job, stream: bytes) -> None:
        fault, _ = first_stream_fault(stream)
        if fault is not None:
            self.figures.invalid.append(f"{fault}: {job}")
            return
        self.figures.valid += 1
        done = orjson.loads(_data_of(stream))
        self.figures.endings[done["status"]] += 1
        if "code" in done:
            self.figures.codes[done["code"]] += 1
        if job.expected is not None:
            self._judge_cut(job, stream, done)

    def _judge_cut(self, job: Job, stream: bytes, done: dict[str, Any]) -> None:
        """Compare a cut stream with what was received: the status, every letter, and the side effects."""
        expected = job.expected
        assert expected is not None
        self.figures.cuts += 1
        self.figures.to_write += expected.notes
        events = [orjson.loads(_data_of(block)) for block in stream[:-2].split(b"\n\n")]
        text = "".join(event["content"] for event in events if event["type"] == "content")
        thoughts = "".join(event["content"] for event in events if event["type"] == "reasoning")
        came = (done["status"], text, thoughts)
        if came != (expected.status, expected.text + expected.refusal, expected.reasoning):
            self.figures.dishonest.append(f"{came}: {job}")

    def _judge_beginning(self, job: Job, stream: bytes) -> None:
        """Check the part of a stream that was read before its client disconnected."""
        self.figures.beginnings += 1
        check = StreamCheck()
        for frame in SseDecoder().feed(stream[: stream.rfind(b"\n\n") + 2]):
            if fault := check.feed(frame):
                self.figures.invalid.append(f"{fault}: {job}")
                return

    # --- the look inside ------------------------------------------------------------------------------------

    async def _look(self, query: str = "") -> Look:
        _, bills = await fetch(self.port, "GET", INSIDE + query)
        sockets = bills.pop("sockets") - bills.pop("pooled")
        return Look(done=self.figures.runs, sockets=sockets, **bills)

    async def _quiet(self) -> Look:
        """Wait until nothing is running, or until the deadline, and measure."""
        deadline = time.monotonic() + QUIET_SECONDS
        start = self.figures.looks.get("start")
        look = await self._look("?collect=1")
        while time.monotonic() < deadline and not _is_quiet(look, start):
            await asyncio.sleep(0.1)
            look = await self._look("?collect=1")
        return look

    async def _recovered(self) -> None:
        """Wait until the server has released memory, or until the deadline."""
        started = time.monotonic()
        while True:
            self.figures.left = (await self._look()).rss
            self.figures.left_seconds = time.monotonic() - started
            if self.figures.left <= MAY_HOLD * self.figures.idle or self.figures.left_seconds > RECOVERY_SECONDS:
                return
            await asyncio.sleep(1.0)

    async def _watch(self) -> None:
        """Abort the storm if the server holds more sockets than possible."""
        while True:
            look = await self._look()
            self.figures.most_sockets = max(self.figures.most_sockets, look.sockets)
            self.figures.peak = max(self.figures.peak, look.rss)
            if look.sockets > self.most_sockets:
                self.figures.hung.append(f"the server holds {look.sockets} sockets")
                self._is_off = True
                return
            await asyncio.sleep(0.5)


def _is_quiet(look: Look, start: Look | None) -> bool:
    if start is None:
        return look.live == 0
    return look.live == 0 and look.tasks <= start.tasks and look.sockets <= start.sockets


def _data_of(frames: bytes) -> bytes:
    """Return the data of the last of these frames; its id follows it."""
    return frames.rpartition(b"data: ")[2].partition(b"\n")[0]


def _plain(name: str, count: int) -> list[Job]:
    """Return runs that are all alike, so that the server's caches are equal at each measurement."""
    return [Job("openai/sim", f"Hello! ({name} {place})", "v2", tools=()) for place in range(count)]


@contextmanager
def stand(folder: Path, idle_timeout: float = 2.0, pace: float = 0.0005) -> Iterator[Process]:
    """Start the upstream and the server as processes, and end both in any case."""
    (folder / "server").mkdir()
    (folder / "upstream").mkdir()
    upstream = Process(["-m", "tests.scenarios.storm.upstream", str(pace)], folder / "upstream", {})
    try:
        with _serving(folder / "server", upstream.ready().url, idle_timeout) as server:
            yield server
    finally:
        upstream.process.terminate()
        upstream.end()


@contextmanager
def _serving(folder: Path, upstream: str, idle_timeout: float) -> Iterator[Process]:
    settings = {
        "OPENROUTER_BASE_URL": f"{upstream}/api/v1",
        "OPENROUTER_API_KEY": "sk-storm",
        "OPENROUTER_TIMEOUT": str(idle_timeout),
        "SIGNALBOX_ALLOW_LOOP_HEADER": "true",
        "SIGNALBOX_DATA_DIR": str(folder / "data"),
        "SIGNALBOX_LOG_LEVEL": "error",
        "SEARCH_BACKEND": "docs",
        "TMPDIR": str(folder),
    }
    server = Process(["-m", "tests.scenarios.storm.server"], folder, settings)
    try:
        yield server.ready()
    finally:
        server.process.terminate()
        server.end()
