"""The rig of a benchmark run: upstream, relay and servers as processes, and the client that puts a load on them."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from tests.bench.builds import ROOT, Builds, build_tools, python_tools
from tests.bench.loads import ANSWER_EVENTS, CHAT, COMPLETIONS, PAGES, V1_TARGETS, Load, TargetName
from tests.bench.outcome import Outcome, read_outcome
from tests.bench.processes import Child, Cores, child_setup, environment, free_port, python_path, start

# Seconds after which a load fails; a client that hangs is killed shortly afterwards.
_LIMIT = 600
_FILES = 20_000
# High enough for every load; all are set, so that the server checks every limit.
_LIMITS = {
    "SIGNALBOX_MAX_RUNS": "5000",
    "SIGNALBOX_MAX_RUNS_PER_USER": "5000",
    "SIGNALBOX_MAX_STREAMS": "5000",
    "SIGNALBOX_MAX_STREAMS_PER_USER": "5000",
    "SIGNALBOX_RATE_LIMIT": "100000/minute",
    "SIGNALBOX_MAX_RUN_COST": "1000",
}
_NGINX = """\
daemon off; master_process off; worker_processes 1; pid {folder}/nginx.pid; error_log stderr;
events {{ worker_connections 10000; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream model {{ server 127.0.0.1:{upstream}; keepalive 4000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096; keepalive_requests 1000000; client_max_body_size 16m;
    location / {{
      proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;
    }}
  }}
}}
"""


@dataclass(slots=True)
class Rig:
    """The processes of a run. `relay_name` is "nginx", or "relay" for the Python proxy.

    `before` is the source tree of the target `before`.
    """

    folder: Path
    cores: Cores
    builds: Builds
    relay_name: str = "nginx"
    before: Path = ROOT
    children: list[Child] = field(default_factory=list[Child])
    named: dict[str, Child] = field(default_factory=dict[str, Child])

    def upstream(self) -> Child:
        """Return the upstream; start it if needed."""
        if "direct" not in self.named:
            self.named["direct"] = self._start_upstream("upstream", self.builds.upstream, self.cores.others)
        return self.named["direct"]

    def python_upstream(self) -> Child:
        """Return the Python upstream, which has scripts that the C one lacks; start it if needed."""
        if "own" not in self.named:
            self.named["own"] = self._start_upstream("python-upstream", python_tools("").upstream, self.cores.others)
        return self.named["own"]

    def target(self, name: TargetName) -> Child:
        """Return the process of a target; start it if needed."""
        if name == "direct":
            return self.upstream()
        if name == "completions" or name in PAGES:
            return self.target("server")
        if name not in self.named:
            self.named[name] = self._relay() if name == "relay" else self._v1_server(name)
        return self.named[name]

    def _v1_server(self, name: TargetName) -> Child:
        return self.server(name, bare=name == "bare", tree=self.before if name == "before" else ROOT)

    def server(
        self, name: str, *, bare: bool = False, upstream: Child | None = None, tree: Path = ROOT, **settings: str
    ) -> Child:
        """Start the server of a source tree with the data folder `data-of-NAME` and wait until it is ready."""
        child = start(
            name,
            (sys.executable, "-m", "tests.bench.server", *(["--without-journal"] if bare else [])),
            self.folder,
            self.cores.measured,
            reports_cpu=True,
            OPENROUTER_BASE_URL=f"http://127.0.0.1:{(upstream or self.upstream()).port}/api/v1",
            OPENROUTER_API_KEY="sk-bench",
            TOOL_LOOP_V2="true",
            SIGNALBOX_DATA_DIR=f"data-of-{name}",
            PYTHONPATH=python_path(tree),
            **_LIMITS,
            **settings,
        )
        self.children.append(child)
        child.wait_ready()
        return child

    def end(self, child: Child) -> None:
        """End one process."""
        self.children.remove(child)
        child.end()

    def run_load(self, load: Load, name: TargetName, share: int = 1) -> Outcome:
        """Run a load, or 1/share of it, on a target; without a tool loop, the client sends both steps of a tool run."""
        child, streams = self.target(name), max(1, load.streams // share)
        if not load.has_tools or name in V1_TARGETS:
            path = CHAT if name in V1_TARGETS else PAGES.get(name, COMPLETIONS)
            return self.run_client(child, load, load.question(name), streams, path)
        first = self.run_client(child, load, load.question(name), streams, stamps=0)
        return first + self.run_client(child, load, load.second_step(), streams, stamps=ANSWER_EVENTS)

    def run_client(
        self, child: Child, load: Load, body: dict[str, Any], streams: int, path: str = "", *, stamps: int | None = None
    ) -> Outcome:
        """Run the load client and return its result."""
        with self.start_client(child, load, body, streams, path) as client:
            words, errors = client.communicate(timeout=_LIMIT + 30)
        if not words:
            raise RuntimeError(f"the load client printed no result, only {errors[-2000:]!r}")
        outcome = read_outcome(words, load.stamps if stamps is None else stamps)
        if outcome.failed:
            print(f"bench: {load.row} on {child.name}: {outcome.failed} failed. {errors[-600:]}", file=sys.stderr)
        return outcome

    @contextmanager
    def start_client(
        self, child: Child, load: Load, body: dict[str, Any], streams: int, path: str = ""
    ) -> "Iterator[subprocess.Popen[str]]":
        """Start the load client; kill it at the end of the block."""
        question = self.folder / "question.json"
        question.write_bytes(orjson.dumps(body))
        program = python_tools("").load if load.has_chats else self.builds.load
        numbers = (min(load.connections, streams), streams, load.ramp_ms)
        with subprocess.Popen(
            [
                *program,
                str(child.port),
                path or COMPLETIONS,
                str(question),
                *map(str, numbers),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(LOADGEN_LIMIT_S=str(_LIMIT)),
            preexec_fn=child_setup(self.cores.others),  # noqa: PLW1509  (no threads are here)
        ) as client:
            try:
                yield client
            finally:
                client.kill()

    def _relay(self) -> Child:
        upstream, port = self.upstream().port, free_port()
        nginx = find_nginx()
        if nginx is None:
            command = (sys.executable, "-m", "tests.bench.relay", str(port), str(upstream))
            return self._start("relay", command, port, self.cores.measured, reports_cpu=True)
        config = self.folder / "nginx.conf"
        config.write_text(_NGINX.format(folder=self.folder, upstream=upstream, port=port))
        command = (nginx, "-e", "stderr", "-c", str(config), "-p", str(self.folder))
        return self._start("nginx", command, port, self.cores.measured)

    def _start_upstream(self, name: str, command: tuple[str, ...], cores: frozenset[int]) -> Child:
        port = free_port()
        return self._start(name, (*command, str(port)), port, cores)

    def _start(
        self, name: str, command: tuple[str, ...], port: int, cores: frozenset[int], *, reports_cpu: bool = False
    ) -> Child:
        child = start(name, command, self.folder, cores, reports_cpu=reports_cpu)
        self.children.append(child)
        child.port = port
        child.wait_listening()
        return child


def find_nginx() -> str | None:
    """Return the path of nginx, or None; only Linux reports the CPU time of its process."""
    path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
    return shutil.which("nginx", path=path) if sys.platform == "linux" else None


@contextmanager
def open_rig(before: Path = ROOT) -> Iterator[Rig]:
    """Set up a rig in a temporary folder; end all processes and delete the folder at the end of the block."""
    cores = Cores.of_this_machine()
    raise_file_limit()
    with tempfile.TemporaryDirectory(prefix="signalbox-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        rig = Rig(folder, cores, build_tools(folder), "nginx" if find_nginx() else "relay", before)
        if cores.others:
            os.sched_setaffinity(0, cores.others)
        try:
            yield rig
        finally:
            for child in reversed(rig.children):
                child.end()


def raise_file_limit() -> None:
    """Raise the limit of open files: 2,000 streams take 4,000 of the server's sockets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
