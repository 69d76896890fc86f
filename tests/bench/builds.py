"""Which upstream and load client are used: the C ones where they can be built, else the bench's own."""

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
    """How the two are called: `upstream PORT`, and `load PORT PATH BODYFILE CONNECTIONS STREAMS [RAMP_MS]`."""

    kind: str
    why: str
    upstream: tuple[str, ...]
    load: tuple[str, ...]


def python_tools(why: str) -> Builds:
    """Return the bench's own, in Python."""
    python = (sys.executable, "-m")
    return Builds("Python", why, (*python, "tests.bench.upstream"), (*python, "tests.bench.load_client"))


def build_tools(folder: Path) -> Builds:
    """Build the C ones in `folder`, or say why they are not used."""
    sources = Path(os.environ.get(VARIABLE) or ROOT.parent / "shared" / "bench")
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not all((sources / f"{name}.c").is_file() for name in _PROGRAMS):
        where = f"{VARIABLE} names" if VARIABLE in os.environ else f"beside the repository ({VARIABLE}) is"
        return python_tools(f"{where} no folder with fakeup.c and loadgen.c")
    if compiler is None:
        return python_tools("there is no C compiler")
    for name in _PROGRAMS:
        command = [compiler, "-O2", "-o", str(folder / name), str(sources / f"{name}.c")]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return python_tools(f"{name}.c does not compile here")
    return Builds("C", "built", (str(folder / "fakeup"),), (str(folder / "loadgen"),))
