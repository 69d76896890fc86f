"""The product uses only public parts of HTTP libraries and contains no code for tests."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCES = sorted((ROOT / "backend/signalbox").rglob("*.py"))
LIBRARIES = ("httpx", "httpcore", "httptools", "anyio")


def imported(path: Path) -> Iterator[str]:
    """Return the modules that a file imports, and the names that it imports from them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def private(module: str) -> bool:
    """Return whether a name of one of the libraries begins with an underscore."""
    first, *others = module.split(".")
    return first in LIBRARIES and any(name.startswith("_") for name in others)


def test_no_private_part_of_an_http_library_is_imported() -> None:
    """Only public names of httpx, httptools and anyio are used, and httpcore is not used at all."""
    names = {(path.name, module) for path in SOURCES for module in imported(path)}
    assert ("client.py", "httpx") in names, "the check reads the imports"
    assert {name for name in names if private(name[1])} == set()
    assert {name for name in names if name[1].split(".")[0] == "httpcore"} == set()


@pytest.mark.parametrize("word", ["respx", "reportPrivateUsage", "MockTransport"])
def test_the_product_does_not_know_its_tests(word: str) -> None:
    """backend/ has no branch for a test library and no suppressed private access to another package."""
    assert [str(path.relative_to(ROOT)) for path in SOURCES if word in path.read_text()] == []


@pytest.mark.parametrize(
    ("module", "wanted"),
    [("httpx._transports.default", True), ("httpx._client", True), ("httpx.AsyncClient", False), ("asyncio._x", False)],
)
def test_what_counts_as_private(module: str, wanted: bool) -> None:
    """A name is private if any part below the library begins with an underscore."""
    assert private(module) is wanted
