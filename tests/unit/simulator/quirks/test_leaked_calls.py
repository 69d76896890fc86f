"""Calls that are leaked as text, in each markup (A11)."""

import httpx
import pytest

from tests.unit.simulator.quirks.answers import post

MARKUPS = {
    "dsml": "<｜DSML｜tool_calls>",
    "dsml-v32": "<｜DSML｜function_calls>",
    "deepseek": "<｜tool▁calls▁begin｜>",
    "kimi": "<|tool_calls_section_begin|>",
    "kimi-k3": "<|open|>toolscall",
    "glm": "<tool_call>search_web\n<arg_key>query</arg_key>",
    "hermes": '<tool_call>\n{"name":"search_web"',
    "mimo": "<tool_call>\n<function=search_web>\n<parameter=query>",
    "anthropic": '<function_calls>\n<invoke name="search_web">',
    "mistral": '[TOOL_CALLS][{"name":"search_web"',
    "mistral-args": '[TOOL_CALLS]search_web[ARGS]{"query"',
}


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("markup", MARKUPS)
def test_leaks_in_each_markup(client: httpx.Client, markup: str, streamed: bool) -> None:
    """A leaked call is text in its markup, and there is no tool call (A11)."""
    answer = post(client, f"a11-{markup}", stream=streamed)
    assert MARKUPS[markup] in answer.text
    assert "tool loop" in answer.text
    assert not answer.calls


@pytest.mark.parametrize("markup", MARKUPS)
def test_leaks_letter_by_letter(client: httpx.Client, markup: str) -> None:
    """Each delta of a split leak has at most one letter (A11)."""
    answer = post(client, f"a11-{markup}-split")
    assert MARKUPS[markup] in answer.text
    assert max(len(delta.get("content") or "") for delta in answer.deltas) == 1
