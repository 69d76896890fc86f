"""Tools that need the files of a conversation, in requests with and without one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from signalbox.core.ask import Ask
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.tools import Tool
from signalbox.intakes import chat_completions, v1, v1_body
from signalbox.intakes.intake import Tools

from tests.support.fakes import make_tool


def file_tool(name: str, *, on_request: bool) -> Tool:
    """Make a tool that needs files."""
    made = make_tool(name)
    return replace(made, spec=replace(made.spec, needs_workspace=True, on_request=on_request))


TOOLS = Tools(
    {
        "plain": make_tool("plain"),
        "draw": file_tool("draw", on_request=False),
        "create_file": file_tool("create_file", on_request=True),
    }
)
Named = Callable[[str | None, bool], Ask]


def by_v1(name: str | None, in_conversation: bool) -> Ask:
    """Name a tool in a request of contract v1.1."""
    value: dict[str, Any] = {"model": "openai/sim", "prompt": "Hi"}
    value |= {"tools": [name]} if name else {}
    value |= {"conversation_id": "talk"} if in_conversation else {}
    return v1.ask_of(v1_body.body_of(value), TOOLS, {})


def by_tool_type(name: str | None, in_conversation: bool) -> Ask:
    """Name a tool by its type, in a request of OpenAI's clients."""
    value: dict[str, Any] = {"model": "openai/sim", "messages": [{"role": "user", "content": "Hi"}]}
    value |= {"tools": [{"type": f"signalbox:{name}"}]} if name else {}
    headers = {"x-conversation-id": "talk"} if in_conversation else {}
    return chat_completions.ask_of(chat_completions.body_of(value), TOOLS, headers)


def by_header(name: str | None, in_conversation: bool) -> Ask:
    """Name a tool in a header, in a request of OpenAI's clients."""
    value: dict[str, Any] = {"model": "openai/sim", "messages": [{"role": "user", "content": "Hi"}]}
    headers = {"x-signalbox-tools": name} if name else {}
    headers |= {"x-conversation-id": "talk"} if in_conversation else {}
    return chat_completions.ask_of(chat_completions.body_of(value), TOOLS, headers)


CASES = [
    (by_v1, "tools.0", "conversation_id"),
    (by_tool_type, "tools.0.type", "x-conversation-id"),
    (by_header, "x-signalbox-tools", "x-conversation-id"),
]


@pytest.mark.parametrize(("named", "field", "missing"), CASES)
def test_a_file_tool_is_rejected_outside_of_a_conversation(named: Named, field: str, missing: str) -> None:
    """The error names the field, and what would place the request in a conversation."""
    with pytest.raises(RequestError, match=f"create_file works on the files of a conversation: .*{missing}") as caught:
        named("create_file", False)
    assert (caught.value.code, caught.value.status, caught.value.field) == (Code.INVALID_REQUEST, 422, field)
    assert [tool.spec.name for tool in named("create_file", True).tools] == ["create_file"]


@pytest.mark.parametrize("named", [case[0] for case in CASES])
def test_unasked_tools_are_those_that_can_be_used(named: Named) -> None:
    """A request that names no tool gets no tool on request, and tools for files only in a conversation."""
    assert [tool.spec.name for tool in named(None, False).tools] == ["plain"]
    assert [tool.spec.name for tool in named(None, True).tools] == ["plain", "draw"]
