"""The bench's processes: started without this shell's settings, asked over their pipes, ended by closing them."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, cast

import orjson

from tests.bench.load import Job, Tally

ROOT = Path(__file__).resolve().parents[2]
_MODULES = {"bare": "server"}
_READY = re.compile(r"ready: http://127\.0\.0\.1:(\d+)")
# What a setting or a proxy of the shell would change is not what is measured.
_FOREIGN = ("OPENROUTER_", "SIGNALBOX_", "TOOL_LOOP", "SEARCH_", "SEARXNG_", "WEB_CONCURRENCY", "HTTP", "ALL_PROXY")


@dataclass(slots=True)
class Child:
    """One process that was started here."""

    name: str
    process: "subprocess.Popen[str]"
    errors: IO[bytes]
    port: int = 0

    def ask(self, line: str = "") -> str:
        """Write one line and return the answer; raises RuntimeError with its last words when it is gone."""
        try:
            self._pipe(self.process.stdin).write(line + "\n")
            self._pipe(self.process.stdin).flush()
        except BrokenPipeError:
            raise RuntimeError(self._last_words()) from None
        return self.read()

    def read(self) -> str:
        """Return its next line."""
        line = self._pipe(self.process.stdout).readline()
        if not line:
            raise RuntimeError(self._last_words())
        return line

    def cpu(self) -> float:
        """Return the CPU seconds that it has used."""
        return float(self.ask())

    def wait_ready(self) -> None:
        """Read until it says where it listens."""
        while not self.port:
            if found := _READY.search(self.read()):
                self.port = int(found[1])

    def end(self) -> None:
        """Close its pipe, which ends it; one that will not is killed."""
        self._pipe(self.process.stdin).close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._pipe(self.process.stdout).close()
        self.errors.close()

    def _last_words(self) -> str:
        self.errors.seek(0)
        words = self.errors.read().decode("utf-8", "replace")[-2000:]
        return f"the bench's {self.name} is gone: {words or 'without a word'}"

    @staticmethod
    def _pipe(pipe: "IO[str] | None") -> "IO[str]":
        return cast("IO[str]", pipe)


@dataclass(slots=True)
class Stand:
    """All five, running: what is measured has one core, the others share the rest.

    `bare` is the server once more, without its journal.
    """

    upstream: Child
    relay: Child
    server: Child
    bare: Child
    client: Child

    def load(self, job: Job) -> Tally:
        """Have the client do one job."""
        return Tally(**orjson.loads(self.client.ask(orjson.dumps(asdict(job)).decode())))


@contextmanager
def stand(folder: Path) -> Iterator[Stand]:
    """Start the five processes in `folder`, and end them whatever happens."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    own, others = (set(cores[:1]), set(cores[1:])) if len(cores) > 1 else (set[int](), set[int]())
    children: list[Child] = []

    def start(name: str, cores: set[int], *arguments: str, **settings: str) -> Child:
        child = _start(name, folder, cores, arguments, settings)
        children.append(child)
        return child

    try:
        upstream = start("upstream", others)
        upstream.wait_ready()
        client = start("load", others)
        relay = start("relay", own, str(upstream.port))
        settings = {
            "OPENROUTER_BASE_URL": f"http://127.0.0.1:{upstream.port}/api/v1",
            "OPENROUTER_API_KEY": "sk-bench",
            "TOOL_LOOP_V2": "true",  # what streams is measured; the legacy loop, the default, takes whole completions
        }
        server = start("server", own, SIGNALBOX_DATA_DIR="data", **settings)
        bare = start("bare", own, "--without-journal", SIGNALBOX_DATA_DIR="data-of-bare", **settings)
        relay.wait_ready()
        server.wait_ready()
        bare.wait_ready()
        yield Stand(upstream, relay, server, bare, client)
    finally:
        for child in reversed(children):
            child.end()


def _start(name: str, folder: Path, cores: set[int], arguments: tuple[str, ...], settings: dict[str, str]) -> Child:
    kept = {key: value for key, value in os.environ.items() if not key.upper().startswith(_FOREIGN)}
    path = os.pathsep.join((str(ROOT / "backend"), str(ROOT)))
    errors = (folder / f"{name}.log").open("w+b")
    process = subprocess.Popen(
        [sys.executable, "-m", f"tests.bench.{_MODULES.get(name, name)}", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        cwd=folder,
        env={**kept, **settings, "PYTHONPATH": path},
    )
    if cores:
        os.sched_setaffinity(process.pid, cores)
    return Child(name, process, errors)
