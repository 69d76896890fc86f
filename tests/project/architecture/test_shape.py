"""The house rules that a machine can watch: who imports whom, how long functions and files are, what is documented."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from statistics import median, quantiles

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "backend" / "signalbox"
SOURCES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
FUNCTIONS = [
    (path, node)
    for path, tree in TREES.items()
    for node in ast.walk(tree)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
]


def _name(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_imports_run_downward_only() -> None:
    """import-linter finds no import against the house's direction."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "backend")}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_functions_stay_short() -> None:
    """Half of all functions have at most 10 lines, 19 of 20 at most 40."""
    lengths = [_length(node) for _, node in FUNCTIONS]
    assert median(lengths) <= 10
    assert quantiles(lengths, n=20)[-1] <= 40


def test_no_function_is_a_program() -> None:
    """No function of the product is longer than 70 lines."""
    assert [f"{_name(path)}:{node.name}" for path, node in FUNCTIONS if _length(node) > 70] == []


def test_files_stay_one_idea() -> None:
    """No source file is longer than 350 lines."""
    assert [_name(path) for path in SOURCES if len(path.read_text(encoding="utf-8").splitlines()) > 350] == []


def test_no_file_is_a_drawer() -> None:
    """There is no utils, helpers or common."""
    assert [_name(path) for path in SOURCES if path.stem in {"utils", "util", "helpers", "common", "misc"}] == []


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_each_module_says_what_it_is_for(path: Path) -> None:
    """Every module begins with a docstring."""
    assert ast.get_docstring(TREES[path])


def test_no_exception_is_swallowed_in_silence() -> None:
    """No handler of Exception or of everything consists of pass alone."""
    silent = [
        f"{_name(path)}:{node.lineno}"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}))
        and all(isinstance(statement, ast.Pass) for statement in node.body)
    ]
    assert silent == []


def test_wire_alone_names_a_providers_json_keys() -> None:
    """No file above wire/ reads `choices`, `delta` or `tool_calls` out of a provider's JSON."""
    keys = {"choices", "delta", "finish_reason", "native_finish_reason", "reasoning_content"}
    allowed = ("wire/", "simulator/", "decode.py", "intakes/v1_schema.py", "runs/trace.py")
    found = [
        f"{_name(path)}:{node.lineno}: {node.value}"
        for path, tree in TREES.items()
        if not _name(path).startswith(allowed)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in keys
    ]
    assert found == []


def test_no_provider_is_named_in_an_if() -> None:
    """The loops know families by their facts, never by their names."""
    names = {"anthropic", "google", "openai", "xai", "x-ai", "deepseek", "mistral", "mistralai", "moonshot", "qwen"}
    found = [
        f"{_name(path)}:{node.lineno}"
        for path, tree in TREES.items()
        if _name(path).startswith(("chat/", "runs/", "encoders/", "app/"))
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and part.value in names
    ]
    assert found == []
