"""The code, requests and settings of the tutorials work as shown."""

import json
import shlex
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from signalbox.core.errors import ToolError
from signalbox.core.tools import Tool, ToolContext
from signalbox.tools.lint import fault_of

from tests.project.docs.pages import Page, page
from tests.support.running_app import RunningApp, settings_for
from tests.support.stream_reader import check_stream

ANSWER, TOOL, DEPLOYMENT = page("first-answer.md"), page("first-tool.md"), page("first-deployment.md")


def request_in(one: Page) -> tuple[str, dict[str, Any]]:
    """Return the path and the JSON body of the page's only POST."""
    commands = [shlex.split(block.replace("\\\n", " ")) for block in one.blocks("sh") if "curl" in block]
    [words] = [words for words in commands if "-d" in words]
    [url] = [word for word in words if word.startswith("http://")]
    return url.removeprefix("http://127.0.0.1:8000"), json.loads(words[words.index("-d") + 1])


@pytest.fixture(scope="module")
def dice() -> Tool:
    """Load the tool through the entry point that the page declares."""
    [entry_points] = [tomllib.loads(block)["project"]["entry-points"] for block in TOOL.blocks("toml")]
    name, _, function = entry_points["signalbox.tools"]["dice"].partition(":")
    module = ModuleType(name)
    [code] = TOOL.blocks("python")
    exec(compile(code, f"{name}.py", "exec"), module.__dict__)
    return getattr(module, function)


def test_the_first_answer_is_the_one_shown(app: RunningApp) -> None:
    """The request streams the events that the page quotes, and the run list has the fields of the quoted one."""
    path, body = request_in(ANSWER)
    events = check_stream(app.client.post(path, json=body).content).events
    [quoted] = [block for block in ANSWER.blocks("text") if "data: " in block]
    shown = [line.partition('"type":"')[2].partition('"')[0] for line in quoted.splitlines()]
    types = [event["type"] for event in events]
    assert set(shown) <= set(types)
    assert "391" in "".join(event["content"] for event in events if event["type"] == "content")
    [runs] = [json.loads(block) for block in ANSWER.blocks("json")]
    real = app.client.get("/api/runs?limit=1").json()
    assert real.keys() == runs.keys()
    assert real["runs"][0].keys() == runs["runs"][0].keys()


def test_the_first_tool_is_accepted(dice: Tool) -> None:
    """Every provider accepts its name and schema."""
    assert fault_of(dice) is None


@pytest.mark.anyio
async def test_the_first_tool_rolls_and_rejects(dice: Tool) -> None:
    """Three dice give three rolls and their sum; thirty are an error that names the argument."""
    context = ToolContext.for_conversation("run", [])
    result = await dice.run({"count": 3}, context)
    assert isinstance(result, dict)
    rolls: Any = result["rolls"]
    assert (len(rolls), sum(rolls)) == (3, result["sum"])
    with pytest.raises(ToolError, match="count: expected int <= 20"):
        await dice.run({"count": 30}, context)


def test_a_model_calls_the_first_tool(dice: Tool, tmp_path: Path) -> None:
    """The request of the page runs the tool once with three dice, and the answer quotes its result."""
    path, body = request_in(TOOL)
    with RunningApp(settings_for(tmp_path), extra_tools=[dice]) as running:
        events = check_stream(running.client.post(path, json=body).content).events
    [result] = [event for event in events if event["type"] == "tool_result"]
    assert result["name"] == "roll_dice"
    assert len(result["result"]["result"]["rolls"]) == 3
    text = "".join(event["content"] for event in events if event["type"] == "content")
    assert f"'sum': {result['result']['result']['sum']}" in text


def test_the_settings_of_the_first_deployment_are_valid(tmp_path: Path) -> None:
    """Every line of the settings file is a setting, and each is explained."""
    [block] = [block for block in DEPLOYMENT.blocks("sh") if "END" in block]
    lines = dict(line.split("=", 1) for line in block.splitlines() if "=" in line and "<<" not in line)
    settings = settings_for(tmp_path, **{name.lower(): value.replace("…", "0") for name, value in lines.items()})
    assert settings.signalbox_require_token
    assert settings.signalbox_allowed_hosts == ("chat.example.org",)
    assert all(f"| `{name}` |" in DEPLOYMENT.text for name in lines)


def test_the_commands_of_the_first_deployment_exist(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`signalbox token create` and `signalbox doctor` are commands."""
    from signalbox.cli import main

    for command in (["token", "create", "--help"], ["doctor", "--help"]):
        monkeypatch.setattr(sys, "argv", ["signalbox", *command])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in (0, None)
        assert "usage" in capsys.readouterr().out
