"""The simulated model reads tool results that are sent as text."""

from typing import Any

import httpx
import pytest
from signalbox.chat.history.message_order import IN_WORDS

TOLD = f'{IN_WORDS}\n\ncalculate {{"expression":"6*7"}}\n{{"value":42}}'


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": f"What is 6*7?\n\n{TOLD}"}],
        [{"role": "user", "content": "What is 6*7?"}, {"role": "user", "content": TOLD}],
    ],
)
def test_results_as_text(client: httpx.Client, messages: list[dict[str, Any]]) -> None:
    """They count as results of calls, in the question's message or in a later one."""
    tool = {"type": "function", "function": {"name": "calculate", "parameters": {"type": "object"}}}
    body = {"model": "openai/sim", "messages": messages, "tools": [tool]}
    message = client.post("/chat/completions", json=body).json()["choices"][0]["message"]
    assert "42" in message["content"]
    assert not message.get("tool_calls")
