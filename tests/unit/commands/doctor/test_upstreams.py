"""`signalbox doctor` with upstreams.toml: one finding per upstream, from requests that cost nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
from signalbox.commands.doctor.finding import Finding
from signalbox.commands.doctor.key_format import fault_in_key
from signalbox.commands.doctor.report import all_passed, as_json, as_text

from tests.support.doctor import examined, near
from tests.support.scripted_upstream import Exchange, Script, ScriptedUpstream, says

KEY = "sk-or-v1-canary-of-the-doctor"
LISTED = {"data": [{"id": "llama"}, {"id": "qwen"}]}


def upstream(name: str, base_url: str, *fields: str, dialect: str = "openai-chat") -> str:
    """Return an `[[upstream]]`."""
    rows = [f'name = "{name}"', f'dialect = "{dialect}"', f'base_url = "{base_url}"', *fields]
    return "\n".join(["[[upstream]]", *rows, ""])


def checked(folder: Path, text: str, **settings: Any) -> dict[str, Finding]:
    """Examine an installation with this upstreams.toml."""
    path = folder / "upstreams.toml"
    path.write_text(text, encoding="utf-8")
    found = examined(near(folder / "data", signalbox_upstreams=path, **settings))
    assert "key" not in found
    assert KEY not in as_text([*found.values()]) + as_json([*found.values()])
    return found


def gives(status: int, value: object) -> Script:
    """Make a script that answers a look-up."""

    async def script(exchange: Exchange) -> None:
        await exchange.whole(status, json.dumps(value).encode())

    return script


@pytest.mark.parametrize(
    ("models", "fields", "state", "said"),
    [
        (gives(200, LISTED), (), "ok", "answers without a key. It lists 2 models."),
        (gives(200, LISTED), ('models = ["llama"]',), "ok", "It lists 2 models, and its patterns match 1 of them."),
        (gives(200, LISTED), ('models = ["x"]',), "warn", "2 models, none of which its patterns match. Correct models"),
        (gives(200, {"data": []}), (), "warn", "It lists 0 models. Load a model there"),
        (gives(404, {}), ('listed = ["llama"]',), "ok", "The file lists 1 model."),
        (gives(404, {}), (), "fail", "Check base_url and proxy of the upstream 'local' in upstreams.toml"),
        (gives(401, {}), ('listed = ["llama"]',), "fail", "Set key of the upstream 'local' in upstreams.toml"),
        (gives(401, {}), ('key = "file:k"',), "fail", "Put this upstream's API key into the file k."),
        (gives(503, {}), (), "fail", "overloaded"),
    ],
)
def test_an_upstream(tmp_path: Path, models: Script, fields: tuple[str, ...], state: str, said: str) -> None:
    """What it answers to the request for its models, and what to do. No question is sent."""
    (tmp_path / "k").write_text(KEY, encoding="utf-8")
    with ScriptedUpstream(says("Never."), models=models) as server:
        found = checked(tmp_path, upstream("local", server.base_url, *fields))["upstream local"]
        assert not server.asked
    assert (found.state, said in f"{found.found} {found.todo}") == (state, True), found


def test_one_that_cannot_be_reached_does_not_hide_the_others(tmp_path: Path) -> None:
    """Each has its own finding; one failure makes the exit status 1."""
    with ScriptedUpstream(says("Never."), models=gives(200, LISTED)) as server:
        text = upstream("down", "http://127.0.0.1:9/v1") + upstream("up", server.base_url)
        found = checked(tmp_path, text)
    assert (found["upstream down"].state, found["upstream up"].state) == ("fail", "ok")
    assert "Check base_url" in found["upstream down"].todo
    assert not all_passed([found["upstream down"]])


def test_every_missing_key_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server names the first one and does not start; the doctor names all and checks the other upstreams."""
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with ScriptedUpstream(says("Never."), models=gives(200, LISTED)) as server:
        text = (
            upstream("a", server.base_url, 'key = "env:NO_SUCH_KEY"')
            + upstream("b", server.base_url, 'key = "file:no-such-file"')
            + upstream("c", server.base_url)
        )
        found = checked(tmp_path, text)
    assert found["upstream a"].found == "The environment variable NO_SUCH_KEY is not set."
    assert found["upstream a"].todo == "Put this upstream's API key into NO_SUCH_KEY."
    assert found["upstream b"].state == "fail"
    assert found["upstream c"].state == "ok"


def test_an_account_is_read_where_the_upstream_has_one(tmp_path: Path) -> None:
    """OpenRouter's: the credit and the number of models in one sentence."""

    async def answers(exchange: Exchange) -> None:
        is_key = exchange.asked.path.endswith("/key")
        value = {"data": {"limit_remaining": 0.5, "usage": 12.5}} if is_key else LISTED
        await exchange.whole(200, json.dumps(value).encode())

    (tmp_path / "k").write_text(KEY, encoding="utf-8")
    with ScriptedUpstream(says("Never."), models=answers) as server:
        text = upstream("or", server.base_url, 'key = "file:k"', dialect="openrouter-chat")
        found = checked(tmp_path, text)["upstream or"]
    assert found.state == "warn"
    assert found.found.endswith("accepts the key; $0.50 left; $12.50 spent so far. It lists 2 models.")


def test_an_invalid_file_is_a_failure(tmp_path: Path) -> None:
    """With the line."""
    found = checked(tmp_path, '[[upstream]]\nname = "a"\ndialect = "klingon"\nbase_url = "http://x/v1"\n')["upstreams"]
    assert (found.state, "upstreams.toml, line 3: there is no dialect 'klingon'" in found.found) == ("fail", True)


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ((), "warn"),
        (("prices = { llama = { prompt = 0, completion = 0 }, qwen = { prompt = 1, completion = 1 } }",), "ok"),
    ],
)
def test_a_cost_limit_without_prices_is_a_warning(tmp_path: Path, fields: tuple[str, ...], state: str) -> None:
    """The operator's limit rejects no request, so the doctor says where it does not act."""
    with ScriptedUpstream(says("Never."), models=gives(200, LISTED)) as server:
        found = checked(tmp_path, upstream("local", server.base_url, *fields), signalbox_max_run_cost=1.0)
    one = found["upstream local"]
    assert one.state == state
    if state == "warn":
        assert one.found == "SIGNALBOX_MAX_RUN_COST does not limit runs of 2 models without a price: llama, qwen."


@pytest.mark.parametrize(
    ("key", "base_url", "fault"),
    [
        ("sk-or-v1-abc", "https://openrouter.ai/api/v1", None),
        ("sk-proj-abc", "https://api.openai.com/v1", None),
        ("sk-ant-api03-abc", "https://api.anthropic.com", None),
        ("sk-ant-abc", "https://api.openai.com/v1", "begins with sk-ant-, like a key of api.anthropic.com"),
        ("sk-proj-abc", "https://api.anthropic.com", "begins with sk-, like a key of api.openai.com"),
        ("abc", "https://openrouter.ai/api/v1", "does not begin with sk-or-"),
        ("abc", "http://127.0.0.1:11434/v1", None),
        ('"abc"', "http://127.0.0.1:11434/v1", "is in quotes"),
        ("sk-or-v1-...", "https://openrouter.ai/api/v1", "is shortened"),
    ],
)
def test_the_format_of_a_key(key: str, base_url: str, fault: str | None) -> None:
    """Only a warning, because a service may change the format of its keys."""
    assert fault_in_key(key, base_url) == fault


def test_a_key_of_another_service_is_a_warning(tmp_path: Path) -> None:
    """In the report, without the key."""
    (tmp_path / "k").write_text(f'"{KEY}"', encoding="utf-8")
    with ScriptedUpstream(says("Never."), models=gives(200, LISTED)) as server:
        found = checked(tmp_path, upstream("local", server.base_url, 'key = "file:k"'))["upstream local"]
    assert (found.state, found.found) == ("warn", "The API key is in quotes.")
