"""Rules of the code base: imports, lengths of functions and files, docstrings, provider keys."""

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median, quantiles

import pytest
from signalbox.core.params import FIELDS

from tests.conftest import ROOT

PACKAGE = ROOT / "backend" / "signalbox"
SOURCES = sorted(PACKAGE.rglob("*.py"))


@cache
def trees() -> dict[Path, ast.Module]:
    """Parse all sources; not while tests are collected, which every process does."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}


def functions() -> list[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Return all functions of the product."""
    return [
        (path, node)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def _lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


def _name(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_imports_run_downward_only() -> None:
    """import-linter finds no broken contract."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "backend")}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_functions_stay_short() -> None:
    """Half of all functions have at most 10 lines, 19 of 20 at most 40."""
    lengths = [_length(node) for _, node in functions()]
    assert median(lengths) <= 10
    assert quantiles(lengths, n=20)[-1] <= 40


def test_no_function_is_a_program() -> None:
    """No function of the product is longer than 70 lines."""
    assert [f"{_name(path)}:{node.name}" for path, node in functions() if _length(node) > 70] == []


def test_files_stay_one_idea() -> None:
    """No source file of the product, the page, the examples or the tests is longer than 350 lines."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [path for path in listed.split("\0") if path.endswith((".py", ".ts", ".tsx"))]
    assert len(paths) > 1000
    assert [path for path in paths if (ROOT / path).exists() and _lines(ROOT / path) > 350] == []


def test_folders_can_be_scanned() -> None:
    """No folder holds more than 20 source files, except the growing list of migrations."""
    sizes = Counter(path.parent for path in SOURCES if path.parent.name != "versions")
    assert {_name(folder): size for folder, size in sizes.items() if size > 20} == {}


def test_no_file_is_a_drawer() -> None:
    """No module is named utils, helpers or common."""
    assert [_name(path) for path in SOURCES if path.stem in {"utils", "util", "helpers", "common", "misc"}] == []


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_each_module_says_what_it_is_for(path: Path) -> None:
    """Every module has a docstring."""
    assert ast.get_docstring(trees()[path])


def test_no_exception_is_swallowed_in_silence() -> None:
    """No handler of Exception or of everything consists of `pass` alone."""
    silent = [
        f"{_name(path)}:{node.lineno}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}))
        and all(isinstance(statement, ast.Pass) for statement in node.body)
    ]
    assert silent == []


DIALECTS = tuple(sorted(path.parent.name for path in (PACKAGE / "wire").glob("*/__init__.py")))
# Keys of one word are common to many formats (`id`, `usage`); these are not.
SINGLE_KEYS = {"annotations", "choices", "delta", "stream"}
# Media types are no provider's. The neutral names of parameters belong to `Params`; dialects translate them.
_MEDIA_TYPES = ("application/", "image/", "text/")
_OWN_NAMES = frozenset(FIELDS)
# The JSON of client protocols, which has keys in common with providers'.
CLIENT_PROTOCOLS = ("intakes/", "encoders/", "app/openapi/")
# Provider keys that other packages use with another meaning, and where.
SHARED_KEYS = {
    "the public API has the name": {
        "app/": {"/api/v1", "context_length", "file_data", "image_url", "supported_parameters", "x-api-key"},
        "chat/": {"tool_choice"},
        "core/": {"parallel_tool_calls", "response_format", "tool_calls"},
        "evals/": {"file_data", "image_url"},
        "runner/": {"media_type", "tool_choice"},
    },
    "a finish reason of the public API has the name": {"chat/": {"content_filter"}, "core/": {"content_filter"}},
    "a file of a conversation has the field": {"conversations/files/": {"media_type"}, "store/": {"media_type"}},
    "an event has the name": {"core/": {"tool_result"}},
    "an argument of a tool has the name": {"tools/images/": {"aspect_ratio"}},
    "a format of DataTable has the name": {"core/data_table.py": {"delta"}},
    "the stored format of messages has the name": {
        "app/": {"call_id", "reasoning_details"},
        "store/": {"arguments_raw", "call_id", "is_error", "reasoning_details", "tool_calls"},
    },
    "models leak calls as text in this form": {"chat/": {"tool_calls"}},
    "`decode` prints a capture's own names": {
        "decode.py": {"finish_reason", "native_finish_reason", "reasoning_details", "tool_calls"},
    },
    "a dialect, or an attribute of OpenInference, has the name": {
        "tracing/attributes.py": {"reasoning_effort"},
        "tracing/content.py": {"finish_reason"},
        "tracing/names.py": {"anthropic-messages", "openai-chat", "openai-responses", "openrouter-chat"},
    },
    "parity reads requests out of recordings": {"commands/": {"tool_call_id", "tool_calls"}},
}


def _constants(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every string of a module that is not a docstring, and its line."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in docstrings:
            yield (node.value if isinstance(node.value, str) else node.value.decode("latin-1")), node.lineno


def _fields(tree: ast.AST) -> set[str]:
    """Return the struct fields of a module, which a typed decoder reads by name."""
    bodies = [statement for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for statement in node.body]
    return {
        statement.target.id
        for statement in bodies
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    }


def _provider_keys() -> set[str]:
    """Return the JSON keys, header names and paths of the dialects that have more than one word."""
    folders = tuple(f"wire/{name}/" for name in DIALECTS)
    dialects = [tree for path, tree in trees().items() if _name(path).startswith(folders)]
    named = {text for tree in dialects for text in {text for text, _ in _constants(tree)} | _fields(tree)}
    keys = {text for text in named if re.fullmatch(r"/?[a-z]+(?:[-_/][a-z0-9]+)+", text)}
    return {key for key in keys - {"utf-8", "latin-1"} if not key.startswith(_MEDIA_TYPES)} - _OWN_NAMES | SINGLE_KEYS


def test_wire_alone_names_providers_keys() -> None:
    """Only wire/ contains JSON keys, headers and paths of providers, with the exceptions listed above."""
    keys = _provider_keys()
    assert {"stream_options", "max_completion_tokens", "/chat/completions", "x-generation-id", "http-referer"} <= keys
    found = {
        (_name(path), text)
        for path, tree in trees().items()
        if not _name(path).startswith(("wire/", "simulator/", *CLIENT_PROTOCOLS))
        for text, _ in _constants(tree)
        if text in keys
    }
    shared = {(place, key) for places in SHARED_KEYS.values() for place, listed in places.items() for key in listed}
    used = {(place, key) for place, key in shared for path, text in found if path.startswith(place) and text == key}
    assert {(path, key) for path, key in found if not any(path.startswith(p) and key == k for p, k in used)} == set()
    assert shared - used == set(), "exceptions that nothing needs"


def test_the_table_alone_names_dialects() -> None:
    """Only wire/ imports a dialect's folder; other packages use the table."""
    folders = tuple(f"signalbox.wire.{name}" for name in DIALECTS)
    found = [
        f"{_name(path)}: {node.module}"
        for path, tree in trees().items()
        if not _name(path).startswith("wire/")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith(folders)
    ]
    assert found == []


def test_no_provider_is_named_in_an_if() -> None:
    """The loops check facts of a family, never its name."""
    names = {
        "anthropic",
        "google",
        "openai",
        "xai",
        "x-ai",
        "deepseek",
        "mistral",
        "mistralai",
        "moonshot",
        "qwen",
        "openrouter",
    }
    found = [
        f"{_name(path)}:{node.lineno}"
        for path, tree in trees().items()
        if _name(path).startswith(("chat/", "runs/", "encoders/", "intakes/", "services/", "app/"))
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and part.value in names
    ]
    assert found == []
