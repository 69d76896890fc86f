"""The Bruno collection covers every endpoint, every assertion can fail, and it contains no secret."""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from signalbox.app.config import Settings
from signalbox.app.main import create_app
from signalbox.intakes.v1_schema import ChatRequest

from tests.conftest import ROOT

FOLDER = ROOT / "bruno"
_BLOCK = re.compile(
    r"^(?P<name>[a-z]+(?::[a-z-]+)?) (?:\{\n(?P<text>.*?)^\}|\[\n(?P<list>.*?)^\])$", re.MULTILINE | re.DOTALL
)
_METHODS = ("get", "post", "put", "delete", "patch")
# An expression that throws is an error object in Bruno, which is defined, truthy, not empty and unequal to most.
_CANNOT_FAIL = {"isDefined", "isTruthy", "isNotEmpty", "isJson", "neq", "notIn", "notContains", "notMatches"}


@dataclass(frozen=True)
class File:
    """One parsed .bru file."""

    path: Path
    blocks: dict[str, str]

    @property
    def name(self) -> str:
        return str(self.path.relative_to(FOLDER))

    def fields(self, block: str) -> dict[str, str]:
        lines = [line.strip() for line in self.blocks.get(block, "").splitlines() if line.strip()]
        return {name.strip(): value.strip() for name, _, value in (line.partition(": ") for line in lines)}

    @property
    def method(self) -> str:
        return next(name for name in _METHODS if name in self.blocks)

    @property
    def path_asked(self) -> str:
        return self.fields(self.method)["url"].removeprefix("{{baseUrl}}").partition("?")[0]

    @property
    def assertions(self) -> list[tuple[str, str]]:
        """Return each assertion's expression and operator."""
        return [(name, value.split(" ")[0]) for name, value in self.fields("assert").items()]


def parse_file(path: Path) -> File:
    """Parse a file; unparsed text is an error."""
    text = path.read_text(encoding="utf-8")
    blocks = {match["name"]: match["text"] or match["list"] or "" for match in _BLOCK.finditer(text)}
    assert not _BLOCK.sub("", text).strip(), path
    return File(path, blocks)


FOLDERS = (
    "chat",
    "validation",
    "runs",
    "resuming",
    "saves",
    "conversations",
    "models",
    "tools",
    "health",
    "flags",
    "contract",
    "v1",
    "upstreams",
    "rollout",
    "audit",
    "tokens",
    "sign-in",
    "webhooks",
    "ai-sdk",
    "assistant-ui",
    "ag-ui",
    "variants",
    "files",
)
REQUESTS = [parse_file(path) for name in FOLDERS for path in sorted((FOLDER / name).glob("[0-9]*.bru"))]
ENVIRONMENTS = [parse_file(path) for path in sorted((FOLDER / "environments").glob("*.bru"))]
BY_NAME = {file.name.removesuffix(".bru"): file for file in REQUESTS}


@pytest.fixture(scope="module")
def openapi(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the app's OpenAPI document."""
    return create_app(Settings(signalbox_data_dir=tmp_path_factory.mktemp("data"))).openapi()


def _pattern(path: str) -> str:
    return re.sub(r"\{\w+\}", r"\\{\\{\\w+\\}\\}", path)


def test_every_endpoint_is_asked(openapi: dict[str, Any]) -> None:
    """Each method of each path has a request that expects success.

    Images need a source outside, a reload a file, metrics a token, and a sign-in a provider.
    """
    needs = ("/api/images/{signed}", "/api/upstreams/reload", "/metrics")
    others = (*needs, "/auth/login", "/auth/callback", "/auth/logout", "/api/sessions/{session_id}")
    served = [(method, path) for path, methods in openapi["paths"].items() for method in methods]
    asked = [(file.method, file.path_asked) for file in REQUESTS if "res.status: eq 20" in file.blocks["assert"]]
    missing = [
        f"{method.upper()} {path}"
        for method, path in served
        if path not in others and not any(method == by and re.fullmatch(_pattern(path), to) for by, to in asked)
    ]
    assert missing == []


def test_every_address_is_one(openapi: dict[str, Any]) -> None:
    """Every request uses a documented path, except those for a missing path or model, and OpenRouter's."""
    known = [*openapi["paths"], "/openapi.json"]
    astray = [
        f.name for f in REQUESTS if not any(re.fullmatch(_pattern(path), _filled(f.path_asked)) for path in known)
    ]
    assert astray == [
        "validation/14 nothing there.bru",
        "v1/15 unknown path.bru",
        "v1/16 unknown model by id.bru",
        "v1/17 openrouter paths.bru",
    ]


def _filled(path: str) -> str:
    return path.replace("/none", "/{{none}}")


@pytest.mark.parametrize("file", REQUESTS, ids=lambda file: file.name)
def test_a_request_is_whole(file: File) -> None:
    """It has its file's name, a description, assertions on the status and more, and a timeout."""
    meta = file.fields("meta")
    assert file.path.name == f"{int(meta['seq']):02} {meta['name']}.bru"
    assert re.fullmatch(r"\S[^\n]*\.", file.blocks["docs"].strip())
    assert file.assertions[0] == ("res.status", "eq")
    assert len(file.assertions) >= 2
    assert int(file.fields("settings")["timeout"]) > 0


@pytest.mark.parametrize("file", REQUESTS, ids=lambda file: file.name)
def test_every_assertion_can_fail(file: File) -> None:
    """No assertion is disabled or satisfied by a broken expression."""
    assert [expression for expression, operator in file.assertions if operator in _CANNOT_FAIL] == []
    assert not [expression for expression, _ in file.assertions if expression.startswith("~")]


@pytest.mark.parametrize("file", REQUESTS, ids=lambda file: file.name)
def test_every_variable_is_set_somewhere(file: File) -> None:
    """Each variable is set by the environment or by a script of the collection."""
    used = {name.partition(".")[0] for text in file.blocks.values() for name in re.findall(r"\{\{([\w.]+)\}\}", text)}
    assert used - _variables() == set()


@cache
def _variables() -> frozenset[str]:
    secret = {line.strip(" ,") for line in ENVIRONMENTS[0].blocks["vars:secret"].splitlines()}
    shared = [parse_file(FOLDER / "collection.bru"), *(parse_file(FOLDER / name / "folder.bru") for name in FOLDERS)]
    scripts = "".join(text for one in [*shared, *REQUESTS] for text in one.blocks.values())
    return frozenset(secret | set(ENVIRONMENTS[0].fields("vars")) | set(re.findall(r'bru\.setVar\("(\w+)"', scripts)))


@pytest.mark.parametrize("file", [f for f in REQUESTS if f.path_asked == "/api/chat/stream"], ids=lambda f: f.name)
def test_every_question_that_is_let_in_is_valid(file: File) -> None:
    """The body of a question fits the schema if the request expects an answer."""
    if "res.status: eq 200" in file.blocks["assert"]:
        ChatRequest.model_validate(json.loads(re.sub(r"\{\{(\w+)\}\}", r"\1", file.blocks["body:json"])))
    else:
        assert file.path.parent.name in ("validation", "resuming", "conversations")


def test_the_paths_of_the_plan_are_there() -> None:
    """Each documented case has its requests, and they check how it ends."""
    wanted = {
        "chat/01 no tools": "done.steps: eq 1",
        "chat/03 one search": "resultCodes: eq ok",
        "chat/04 multi-step": "done.steps: eq 4",
        "chat/08 clamp": "warningCodes: eq TOOL_CLAMP",
        "chat/11 guardrail xai": "warningCodes: eq PARAM_DROPPED",
        "chat/14 guardrail anthropic as sent": "parallel_tool_calls",
        "chat/17 bad arguments": "INVALID_ARGUMENTS",
        "chat/24 upstream 429": "done.code: eq RATE_LIMIT",
        "chat/27 upstream error mid-stream": "done.status: eq error",
        "resuming/02 resume by get": "firstSeq: eq {{resumeNext}}",
        "resuming/03 resume by post": "runId: eq {{resumeRun}}",
        "resuming/06 all was seen by post": "res.status: eq 204",
        "resuming/11 the same key and question": "runId: eq {{keyedRun}}",
        "resuming/12 the same key and another question": "KEY_REUSED",
        "saves/07 open": "res.body.trace.run_id: eq {{savedRun}}",
        "saves/12 save what goes on": "RUN_NOT_OVER",
        "saves/22 what was deleted": "UNKNOWN_SAVE",
        "conversations/04 ask on with the new message alone": "done.status: eq complete",
        "conversations/05 what its model was told": "res.body.attempts[0].messages: eq 5",
        "conversations/15 all branches": "res.body.messages.length: eq 7",
        "conversations/27 what was deleted": "UNKNOWN_CONVERSATION",
        "flags/11 run after the rollback": "done.loop: eq legacy",
    }
    assert {name: text for name, text in wanted.items() if text not in BY_NAME[name].blocks["assert"]} == {}


def test_the_rollback_is_in_order_and_the_override_is_restored() -> None:
    """V2 runs, the override turns it off, the next run is legacy, and the last request restores the override."""
    names = [file.path.stem for file in REQUESTS if file.path.parent.name == "flags"]
    order = ["08 pull on", "09 run with the override on", "10 roll back", "11 run after the rollback"]
    assert [name for name in names if name in order] == order
    assert names[-1] == "22 put back"


def test_environments_keep_no_secret() -> None:
    """All environments have the same variables, empty tokens, and loopback addresses."""
    assert [file.path.stem for file in ENVIRONMENTS] == ["ci", "local"]
    assert len({tuple(file.fields("vars")) for file in ENVIRONMENTS}) == 1
    for file in ENVIRONMENTS:
        assert file.fields("vars")["baseUrl"].startswith("http://127.0.0.1:")
        assert file.blocks["vars:secret"].split() == ["adminToken,", "accessToken"]


def test_the_command_line_is_pinned_without_addresses() -> None:
    """Bruno has one exact version, and its lock names no download URL."""
    package = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    lock = (FOLDER / "package-lock.json").read_text(encoding="utf-8")
    version = package["dependencies"]["@usebruno/cli"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert json.loads(lock)["packages"]["node_modules/@usebruno/cli"]["version"] == version
    assert '"resolved"' not in lock
    assert "omit-lockfile-registry-resolved=true" in (FOLDER / ".npmrc").read_text(encoding="utf-8")


def test_every_stream_is_checked_by_the_collection() -> None:
    """The collection's script checks every stream, before the request's own tests."""
    checks = re.findall(
        r'^\s*test\("([^"]+)"', parse_file(FOLDER / "collection.bru").blocks["script:post-response"], re.MULTILINE
    )
    assert len(checks) == 10
    assert json.loads((FOLDER / "bruno.json").read_text(encoding="utf-8"))["scripts"]["flow"] == "sequential"
