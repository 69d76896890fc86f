"""The package `@signalbox/client`, packed and installed into an empty project: its types, its examples, its size.

The tests of its behaviour are in clients/typescript/tests.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest

from scripts import page
from tests.conftest import ROOT
from tests.project.docs.pages import Page
from tests.support.running_app import RunningApp

CLIENT = ROOT / "clients" / "typescript"
PAGES = [CLIENT / "README.md", ROOT / "docs" / "clients" / "typescript-client.md"]
EXAMPLES = [block for path in PAGES for block in Page(path, path.read_text(encoding="utf-8")).blocks("ts")]
# Minified and compressed with gzip.
WHOLE_BYTES = 14_250
STRICT = ("--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--noEmit")
TARGET = ("--target", "es2022", "--module", "nodenext", "--lib", "es2023,dom,dom.asynciterable", "--types", "")
_BUNDLE = """
import { gzipSync } from "node:zlib";
import { build } from "vite";
const options = { write: false, modulePreload: false, rolldownOptions: { input: process.argv[1] } };
const { output } = await build({ configFile: false, logLevel: "error", build: options });
console.log(gzipSync(output[0].code, { level: 9 }).length);
"""


@pytest.fixture(scope="module")
def node() -> page.Page:
    """Return the package with its development packages installed."""
    client = page.client()
    client.install()
    return client


@pytest.fixture(scope="module")
def project(node: page.Page, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty project into which the packed package is installed, without a network."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "package.json").write_text('{"name": "empty", "private": true, "type": "module"}', encoding="utf-8")
    run(node, CLIENT, *node.command(), "pack", "--pack-destination", str(folder))
    [archive] = folder.glob("signalbox-client-*.tgz")
    run(node, folder, *node.command(), "install", "--offline", "--no-audit", "--no-fund", archive.name)
    return folder


def run(node: page.Page, folder: Path, *command: str) -> str:
    """Run a command in a folder, and return its output."""
    done = subprocess.run(
        command, cwd=folder, env=node.environment(), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_package_is_complete_and_has_no_dependencies(project: Path) -> None:
    """It has modules with declarations for both entry points, and installs nothing else."""
    installed = project / "node_modules"
    assert [path.name for path in installed.iterdir() if not path.name.startswith(".")] == ["@signalbox"]
    package = installed / "@signalbox/client"
    described = json.loads((package / "package.json").read_text(encoding="utf-8"))
    assert "dependencies" not in described
    assert all((package / path).is_file() for entry in described["exports"].values() for path in entry.values())
    assert not [path for path in package.rglob("*.js") if not path.with_suffix(".d.ts").is_file()]
    assert not [path for path in package.rglob("*.js") if "console." in path.read_text(encoding="utf-8")]


def test_the_examples_have_correct_types(node: page.Page, project: Path) -> None:
    """All examples compile with strict settings, and so do the declarations of the package."""
    names = [f"typed-{number}.ts" for number in range(len(EXAMPLES))]
    for name, block in zip(names, EXAMPLES, strict=True):
        (project / name).write_text(block, encoding="utf-8")
    (project / "requests.ts").write_text('export * from "@signalbox/client/requests";', encoding="utf-8")
    compiler = CLIENT / "node_modules/typescript/bin/tsc"
    run(node, project, str(node.bin / "node"), str(compiler), *STRICT, *TARGET, *names, "requests.ts")


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: re.sub(r"\W+", "-", block.strip().splitlines()[-1])[:40])
def test_the_examples_run(node: page.Page, project: Path, app: RunningApp, block: str) -> None:
    """Each example of the README and of the page runs in Node as printed, and prints what it is about."""
    (project / "example.ts").write_text(block.replace("http://127.0.0.1:8000", app.url), encoding="utf-8")
    printed = run(node, project, str(node.bin / "node"), "example.ts")
    assert re.search(r"391|17 \* 24|AbortError|INVALID", printed), printed


def test_the_package_is_small(node: page.Page, project: Path) -> None:
    """A bundle of the whole package is within its budget."""
    entry = project / "whole.js"
    entry.write_text('import * as whole from "@signalbox/client"; globalThis.whole = whole;', encoding="utf-8")
    command = (str(node.bin / "node"), "--input-type=module", "--eval", _BUNDLE, str(entry))
    assert int(run(node, CLIENT, *command)) <= WHOLE_BYTES


def test_the_parameters_of_a_question_are_the_servers(app: RunningApp) -> None:
    """Their names are those of the OpenAPI document."""
    schema = app.client.get("/openapi.json").json()["components"]["schemas"]["ChatRequest"]
    assert fields_of("question.ts", "Question") | {"stream"} == set(schema["properties"])


def test_the_filters_of_runs_are_the_servers(app: RunningApp) -> None:
    """Their names are those of the OpenAPI document."""
    parameters = app.client.get("/openapi.json").json()["paths"]["/api/runs.ndjson"]["get"]["parameters"]
    assert fields_of("reports.ts", "RunFilter") == {one["name"] for one in parameters}


def fields_of(file: str, interface: str) -> set[str]:
    """Return the names of the fields of an interface."""
    source = (CLIENT / "src/types" / file).read_text(encoding="utf-8")
    body = source.partition(f"export interface {interface} {{")[2].partition("\n}\n")[0]
    return set(re.findall(r"^  (\w+)\??:", body, re.MULTILINE))
