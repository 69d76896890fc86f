"""The upstream and the load client: C programs if they can be built, else Python modules."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "SIGNALBOX_BENCH_TOOLS"
_PROGRAMS = ("fakeup", "loadgen")


@dataclass(frozen=True, slots=True)
class Builds:
    """The commands of the upstream (`PORT`) and the load client (`PORT PATH BODYFILE CONNECTIONS STREAMS [RAMP_MS]`).

    `kind` is "C" or "Python"; `why` is the reason for Python.
    """

    kind: str
    why: str
    upstream: tuple[str, ...]
    load: tuple[str, ...]


def python_tools(why: str) -> Builds:
    """Return the Python programs."""
    python = (sys.executable, "-m")
    return Builds("Python", why, (*python, "tests.bench.upstream"), (*python, "tests.bench.load_client"))


def build_tools(folder: Path) -> Builds:
    """Build the C programs in `folder`; if that fails, return the Python programs and the reason."""
    sources = Path(os.environ.get(VARIABLE) or ROOT.parent / "shared" / "bench")
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not all((sources / f"{name}.c").is_file() for name in _PROGRAMS):
        where = f"{VARIABLE} names" if VARIABLE in os.environ else f"beside the repository ({VARIABLE}) is"
        return python_tools(f"{where} no folder with fakeup.c and loadgen.c")
    if compiler is None:
        return python_tools("no C compiler is installed")
    for name in _PROGRAMS:
        command = [compiler, "-O2", "-o", str(folder / name), str(sources / f"{name}.c")]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return python_tools(f"{name}.c does not compile here")
    return Builds("C", "built", (str(folder / "fakeup"),), (str(folder / "loadgen"),))
