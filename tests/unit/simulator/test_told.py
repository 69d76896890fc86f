"""The simulated model reads results that are told in words."""

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
def test_told_results_are_read(client: httpx.Client, messages: list[dict[str, Any]]) -> None:
    """In the question's turn or in one behind it, they are the results of calls that were made."""
    tool = {"type": "function", "function": {"name": "calculate", "parameters": {"type": "object"}}}
    body = {"model": "openai/sim", "messages": messages, "tools": [tool]}
    message = client.post("/chat/completions", json=body).json()["choices"][0]["message"]
    assert "42" in message["content"]
    assert not message.get("tool_calls")
