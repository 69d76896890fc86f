"""No prompt, answer, argument, result or key is logged, in any format and at any level."""

import json
from collections.abc import Iterator

import pytest
import structlog
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject
from signalbox.core.tools import ToolContext

from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import call_chunk, calls_then, says, sends

KEY = "sk-or-v1-canary0123456789abcdef"
ARGUMENTS = json.dumps({"query": "canary-argument"})
REFUSED = sends(json.dumps({"error": {"code": 400, "message": f"canary-error {KEY}"}}).encode(), status=400)


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Restore the logs of the test process."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


def work(arguments: JsonObject, context: ToolContext) -> object:
    """Return a result with a canary."""
    return {"found": "canary-result"}


def refuse(arguments: JsonObject, context: ToolContext) -> object:
    """Fail with a canary in the message."""
    raise ToolError(Code.TOOL_FAILED, "canary-message")


def crash(arguments: JsonObject, context: ToolContext) -> object:
    """Crash with a canary in the message."""
    raise ValueError(f"canary-crash {arguments}")


@pytest.mark.parametrize("level", ["debug", "info"])
@pytest.mark.parametrize("log_format", ["json", "console"])
def test_no_line_has_content(
    start_app: StartApp, capsys: pytest.CaptureFixture[str], no_waiting: object, level: str, log_format: str
) -> None:
    """Runs that answer, whose tools fail and crash, and that are refused; requests that are invalid."""
    names = ("work", "refuse", "crash", "canary-name")
    calls = [call_chunk(name, ARGUMENTS, index=index, call_id=f"call_{index}") for index, name in enumerate(names)]
    broken = call_chunk("work", '{"query": "canary-broken')
    app, _ = start_app(
        calls_then(*calls),
        calls_then(broken),
        says("canary-answer"),
        REFUSED,
        extra_tools=[make_tool("work", work), make_tool("refuse", refuse), make_tool("crash", crash)],
        settings={"openrouter_api_key": KEY, "signalbox_log_level": level, "signalbox_log_format": log_format},
    )
    asked = [{"role": "system", "content": "canary-system"}, {"role": "user", "content": "canary-prompt"}]
    app.ask(messages=asked, metadata={"note": "canary-metadata"})
    app.ask(messages=asked, tools=[])
    app.client.post("/api/chat", json={"model": "openai/sim", "prompt": "canary-prompt", "canary-field": 1})
    app.client.get("/api/runs?canary-query=1", headers={"authorization": f"Bearer {KEY}"})
    written = capsys.readouterr().err
    assert ("run.tool_finished" in written) == (level == "debug")
    assert ('"event":"run.finished"' in written) == (log_format == "json")
    assert "tool.failed" in written
    assert "request.rejected" in written
    assert "canary" not in written
