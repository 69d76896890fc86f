"""The public API: its names, and what importing it costs."""

import subprocess
import sys

import signalbox

from tests.conftest import ROOT
from tests.scenarios.runner.model import answers, calls, model_that

# What the public names may import, apart from the standard library, and what the first run adds.
AT_IMPORT = {"msgspec", "orjson", "signalbox", "typing_extensions"}
IN_FIRST_RUN = AT_IMPORT | {"certifi", "docstring_parser", "httptools", "httpx"}

FIRST_RUN = """
import asyncio
from signalbox import Runner, Upstream, tool

@tool
def look(at: str) -> str:
    return at

answer = asyncio.run(Runner(Upstream("{url}", "sk-test"), "openai/sim", "Look.", tools=[look]).answer())
assert (answer.text, answer.steps) == ("Done.", 2)
"""


def _imported_by(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has imported after this code, without the standard library."""
    program = f"import sys\nbefore = set(sys.modules)\n{code}\nprint(*sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT / "backend", capture_output=True, text=True, check=True
    )
    return {name for name in done.stdout.split() if name.partition(".")[0] not in sys.stdlib_module_names}


def test_every_public_name_exists() -> None:
    """Each name of `__all__` can be imported, and type checkers see the same ones."""
    assert {name for name in signalbox.__all__ if getattr(signalbox, name) is None} == set()
    assert sorted(signalbox._MODULE_OF) == sorted(signalbox.__all__)
    assert (ROOT / "backend" / "signalbox" / "py.typed").exists()


def test_importing_the_package_imports_almost_nothing() -> None:
    """`import signalbox` imports no other module."""
    assert _imported_by("import signalbox") == {"signalbox"}


def test_public_names_import_neither_the_loop_nor_its_packages() -> None:
    """The first run imports the loop, the dialects and the HTTP client, so that `import` takes little time."""
    imported = _imported_by("from signalbox import *")
    assert {name.partition(".")[0] for name in imported} == AT_IMPORT
    assert not any(name.startswith(("signalbox.chat.l", "signalbox.services", "signalbox.wire.o")) for name in imported)


def test_a_first_run_imports_few_packages() -> None:
    """A run with a tool imports httpx, certifi, and a parser of HTTP and one of docstrings."""
    with model_that(calls(("look", {"at": "x"})), answers("Done.")) as model:
        imported = _imported_by(FIRST_RUN.format(url=model.server.base_url))
    ours = imported - _imported_by("import httpx, httptools") | {"httptools", "httpx"}
    assert {name.partition(".")[0] for name in ours} == IN_FIRST_RUN
