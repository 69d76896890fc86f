"""The programs of docs/embedding.md run as shown."""

import shlex
from pathlib import Path

import pytest
from signalbox.app import Settings

from tests.project.docs.pages import page
from tests.project.docs.snippets import module
from tests.scenarios.embedding.hosts import serving_host
from tests.support.processes import command

PAGE = page("embedding.md")
# The setting of the logs is no program; tests/scenarios/embedding/test_host.py runs it.
PROGRAMS = [code for code in PAGE.blocks("python") if "signalbox_app" in code]
PREFIXES = ("/chat", "/support/chat", "/team/chat")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a new current folder, without settings in the environment but the operator token."""
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("SIGNALBOX_ADMIN_TOKEN", "operator-of-a-test")
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("prefix", "code"), [*zip(PREFIXES, PROGRAMS, strict=True)])
def test_each_program_serves_the_chat(prefix: str, code: str) -> None:
    """The host of a program is ready and answers a question under the prefix of the page."""
    host = module("shop", code)
    with serving_host(host.app) as client:
        assert client.get(f"{prefix}/health/ready").json()["simulated"]
        headers = {"authorization": "Bearer operator-of-a-test"}
        body = {"model": "openai/sim", "prompt": "Hello!"}
        answer = client.post(f"{prefix}/api/chat", json=body, headers=headers)
        assert (answer.status_code, answer.json()["status"]) == (200, "complete")
        names = {one["name"] for one in client.get(f"{prefix}/api/tools", headers=headers).json()["tools"]}
        assert ("stock" in names) == hasattr(host, "stock")


def test_the_command_creates_a_token_of_the_app(folder: Path) -> None:
    """Its token is valid in the second program, also while that runs."""
    given, (name, *arguments) = _command(next(one for one in PAGE.blocks("sh") if "token create" in one))
    host = module("shop", PROGRAMS[1])
    with serving_host(host.app) as client:
        created = command(*arguments, cwd=folder, env=given)
        headers = {"authorization": f"Bearer {created.stdout.decode().strip()}"}
        assert (name, client.get("/support/chat/api/runs").status_code) == ("signalbox", 401)
        assert client.get("/support/chat/api/runs", headers=headers).status_code == 200, created.stderr


@pytest.mark.usefixtures("folder")
def test_the_users_of_the_third_program_are_separate() -> None:
    """Each session has its own runs, and a request without a session is rejected."""
    host = module("shop", PROGRAMS[2])
    with serving_host(host.app) as client:
        ada, bob = ({"cookie": f"session={session}"} for session in host.SESSIONS)
        body = {"model": "openai/sim", "prompt": "Hello!"}
        answer = client.post("/team/chat/api/chat", json=body, headers=ada)
        run = f"/team/chat/api/runs/{answer.headers['x-run-id']}"
        assert [client.get(run, headers=headers).status_code for headers in (ada, bob, {})] == [200, 404, 401]


def _command(line: str) -> tuple[dict[str, str], list[str]]:
    """Return the variables and the words of a line of shell."""
    words = shlex.split(line)
    count = next(place for place, word in enumerate(words) if "=" not in word)
    return dict(word.split("=", 1) for word in words[:count]), words[count:]
