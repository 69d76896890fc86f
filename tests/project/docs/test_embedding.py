"""The programs of docs/embedding.md run as shown."""

from pathlib import Path

import pytest
from signalbox.app import Settings

from tests.project.docs.pages import page
from tests.project.docs.snippets import module
from tests.scenarios.embedding.hosts import serving_host

PAGE = page("embedding.md")
PREFIXES = ("/chat", "/support/chat")


@pytest.mark.parametrize(("prefix", "code"), [*zip(PREFIXES, PAGE.blocks("python"), strict=True)])
def test_each_program_serves_the_chat(prefix: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host of a program is ready and answers a question under the prefix of the page."""
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("SIGNALBOX_ADMIN_TOKEN", "operator-of-a-test")
    host = module("shop", code)
    with serving_host(host.app) as client:
        assert client.get(f"{prefix}/health/ready").json()["simulated"]
        headers = {"authorization": "Bearer operator-of-a-test"}
        body = {"model": "openai/sim", "prompt": "Hello!"}
        answer = client.post(f"{prefix}/api/chat", json=body, headers=headers)
        assert (answer.status_code, answer.json()["status"]) == (200, "complete")
        names = {one["name"] for one in client.get(f"{prefix}/api/tools", headers=headers).json()["tools"]}
        assert ("stock" in names) == hasattr(host, "stock")
