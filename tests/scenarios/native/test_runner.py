"""A program with the library runs tools over each native API of the simulator."""

import pytest
from signalbox import Runner, Upstream, tool
from signalbox.simulator.http.server import BackgroundSimulator

pytestmark = pytest.mark.anyio
APIS = (
    ("openai-chat", "/openai/v1", "gpt-5-mini"),
    ("openai-responses", "/openai/v1", "gpt-5.4"),
    ("anthropic-messages", "/anthropic", "claude-sonnet-4-5"),
    ("gemini", "/gemini", "gemini-3-flash-preview"),
)


@tool
def calculate(expression: str) -> str:
    """Calculate an arithmetic expression."""
    return {"17 * 23": "391"}.get(expression, "unknown")


@pytest.mark.parametrize(("dialect", "base", "model"), APIS)
async def test_a_tool_is_called(simulator: BackgroundSimulator, dialect: str, base: str, model: str) -> None:
    """The tool runs in the program, every request is accepted, and the answer has its result."""
    origin = f"http://{simulator.host}:{simulator.port}"
    upstream = Upstream(f"{origin}{base}", "unused", dialect=dialect)
    simulator.state.requests.clear()
    answer = await Runner(upstream, model, "What is 17 * 23?", tools=[calculate]).answer()
    assert "391" in answer.text
    assert answer.usage is not None
    assert answer.usage.input > 0
    assert [request.status for request in simulator.state.requests if request.body is not None] == [200, 200]
