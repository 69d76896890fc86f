"""nginx as a process, configured by deploy/nginx.conf with only ports and paths replaced."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from signalbox.core.codes import CODES, Code

from tests.conftest import ROOT

SAMPLE = ROOT / "deploy" / "nginx.conf"
WAIT = 10.0
NOTHING: Mapping[str, str] = {}
_TEMPS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@dataclass
class Nginx:
    """A running nginx and its output."""

    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=WAIT, trust_env=False, verify=False)


def program() -> str:
    """Return the path of nginx (SIGNALBOX_NGINX, or as installed); without one, skip, or fail where it is required."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
    found = os.environ.get("SIGNALBOX_NGINX") or shutil.which("nginx", path=path)
    if found is None:
        sentence = "nginx is not installed: apt-get install nginx-light, or set SIGNALBOX_NGINX"
        if os.environ.get("SIGNALBOX_NEEDS_SERVICES") == "1":
            pytest.fail(sentence)
        pytest.skip(sentence)
    return found


@contextmanager
def nginx(folder: Path, *workers: int, more: str = "", changes: Mapping[str, str] = NOTHING) -> Iterator[Nginx]:
    """Run nginx in front of one or two workers on these loopback ports until the block ends.

    `more` is added to the http block; `changes` replaces lines of the sample.
    """
    binary = program()
    folder.mkdir(parents=True, exist_ok=True)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        conf = folder / "nginx.conf"
        sample = adapted(SAMPLE.read_text(encoding="utf-8"), port, workers, folder)
        for old, new in changes.items():
            assert sample.count(old) == 1, old
            sample = sample.replace(old, new)
        conf.write_text(sample.replace("http {\n", f"http {{\n{more}\n", 1), encoding="utf-8")
        log = folder / "nginx.log"
        with log.open("wb") as written:
            # nginx inherits a listener that its environment names, as in a binary upgrade, so no other process can take
            # the port.
            process = subprocess.Popen(
                [binary, "-p", str(folder), "-c", str(conf), "-g", "daemon off;"],
                env={**os.environ, "NGINX": f"{listener.fileno()};"},
                pass_fds=[listener.fileno()],
                stdout=written,
                stderr=subprocess.STDOUT,
            )
    try:
        yield Nginx(port, log)
    finally:
        process.terminate()
        process.wait(WAIT)


def adapted(sample: str, port: int, workers: Sequence[int], folder: Path) -> str:
    """Replace ports and paths, which must exist; with one worker, remove the lines of the second."""
    first, *others = workers
    second = f"server 127.0.0.1:{others[0]}" if others else "# no second worker:"
    temps = "".join(f"\n    {name}_temp_path {folder / name};" for name in _TEMPS)
    user = "user root;\n" if os.geteuid() == 0 else ""  # its workers write into a folder of the test user
    changes = [
        ("worker_processes auto;", f"{user}worker_processes 1;", 1),
        ("/run/nginx.pid", str(folder / "nginx.pid"), 1),
        ("/var/log/nginx/access.log", str(folder / "access.log"), 1),
        ("http {\n", f"http {{{temps}\n", 1),
        ("server 127.0.0.1:8002", second, 1),
        ("server 127.0.0.1:8001", f"server 127.0.0.1:{first}", 1),
        ("listen 80;", f"listen 127.0.0.1:{port};", 1),
    ]
    for old, new, times in changes:
        assert sample.count(old) == times, old
        sample = sample.replace(old, new)
    return sample


def message_of(code: Code) -> dict[str, str]:
    """Return the code and message of Signalbox, which nginx.conf repeats."""
    return {"code": code, "message": f"{CODES[code].sentence} {CODES[code].todo}"}
