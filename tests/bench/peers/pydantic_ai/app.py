"""pydantic-ai in FastAPI as its docs have it: an agent with a tool, its events streamed out as they come."""
# Its packages are in its own environment, not in the project's.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from openai import AsyncOpenAI
from pydantic import BaseModel, TypeAdapter
from pydantic_ai import (
    Agent,
    AgentStreamEvent,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    PartDeltaEvent,
    PartStartEvent,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

# The openai package's own client: it keeps up to 1,000 connections, pydantic-ai's shared one 100.
provider = OpenAIProvider(openai_client=AsyncOpenAI(base_url=os.environ["UPSTREAM"], api_key="sk-bench"))
plain = Agent()
working = Agent()
app = FastAPI()
event_json = TypeAdapter[Any](AgentStreamEvent).dump_json
# What a page needs; the others repeat whole parts at their end.
SHOWN = (PartStartEvent, PartDeltaEvent, FunctionToolCallEvent, FunctionToolResultEvent)


class Question(BaseModel):
    """What the bench asks."""

    model: str
    question: str
    tools: bool = False


@working.tool_plain
async def work(ms: float = 0, **rest: Any) -> dict[str, int]:
    """Works."""
    if ms:
        await asyncio.sleep(ms / 1000)
    return {"characters": len(str(rest))}


@app.post("/chat")
async def chat(question: Question) -> StreamingResponse:
    """Run the agent and stream what it says."""
    return StreamingResponse(frames(question), media_type="text/event-stream")


async def frames(question: Question) -> AsyncIterator[bytes]:
    """Write each event of the run as one SSE frame."""
    model = OpenAIChatModel(question.model, provider=provider)
    agent = working if question.tools else plain
    async with agent.run_stream_events(question.question, model=model) as events:
        async for event in events:
            if isinstance(event, SHOWN):
                yield b"data: " + event_json(event) + b"\n\n"
    yield b"data: [DONE]\n\n"


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="error", access_log=False)
