"""Plays conversations with the simulated model and the real file tools."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext
from signalbox.services.tool_executor import ToolExecutor
from signalbox.simulator.families import FAMILIES
from signalbox.simulator.http.incoming import parse_request
from signalbox.simulator.model.next_turn import decide
from signalbox.simulator.model.turns import Turn
from signalbox.tools.files.create_file import create_file
from signalbox.tools.files.edit_file import edit_file
from signalbox.tools.files.list_files import list_files
from signalbox.tools.files.read_file import read_file
from signalbox.tools.files.retrieve_option import retrieve_option

from tests.support.fakes import make_tool
from tests.support.memory_workspace import MemoryWorkspace
from tests.unit.simulator.requests import ask


def images(arguments: JsonObject, context: ToolContext) -> Any:
    """Return paths as generate_images does."""
    prompts = arguments["prompts"]
    assert isinstance(prompts, list)
    return {"images": [{"prompt": one, "path": f"images/{at}.png"} for at, one in enumerate(prompts)]}


DRAWING = make_tool("generate_images", images, parameters={
    "type": "object",
    "properties": {"prompts": {"type": "array", "items": {"type": "string"}}},
    "required": ["prompts"],
})  # fmt: skip


@dataclass
class Designer:
    """A conversation. `turns` are the model's turns since the last question."""

    model: str = "openai/sim"
    before: int = 0
    draws: bool = False
    workspace: MemoryWorkspace = field(default_factory=MemoryWorkspace)
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    turns: list[Turn] = field(default_factory=list[Turn])

    @property
    def tools(self) -> list[Tool]:
        drawing = [DRAWING] if self.draws else []
        return [create_file(), edit_file(), read_file(), list_files(), retrieve_option(), *drawing]

    @property
    def called(self) -> list[str]:
        return [call.name for turn in self.turns for call in turn.calls]

    @property
    def page(self) -> str:
        text = self.workspace.text("index.html")
        assert text is not None
        return text

    def request(self, question: Any, **fields: Any) -> str:
        """Send a question, run the calls until the model answers, and return the answer."""
        self.messages.append({"role": "user", "content": question})
        self.turns = []
        for _ in range(8):
            turn = self._turn(**fields)
            self.turns.append(turn)
            if not turn.calls:
                self.messages.append({"role": "assistant", "content": turn.text})
                return turn.text
            self._run(turn)
        raise AssertionError("the model never answers")

    def _turn(self, **fields: Any) -> Turn:
        offered = [
            {"type": "function", "function": {"name": t.spec.name, "description": "x", "parameters": t.spec.parameters}}
            for t in self.tools
        ]
        body = ask(self.model, *self.messages, **{"tools": offered, **fields})
        incoming = parse_request(body)
        object.__setattr__(incoming, "count_page", lambda _: self.before)
        return decide(incoming, FAMILIES[incoming.family])

    def _run(self, turn: Turn) -> None:
        executor = ToolExecutor(self.tools)
        calls, results = list[dict[str, Any]](), list[dict[str, Any]]()
        for call in turn.calls:
            call_id = f"c{len(self.messages)}_{len(calls)}"
            wrong = executor.check(call.name, call.arguments)
            context = ToolContext(workspace=self.workspace)
            outcome = wrong or asyncio.run(executor.run(call.name, call.arguments, context))
            function = {"name": call.name, "arguments": json.dumps(call.arguments)}
            calls.append({"id": call_id, "type": "function", "function": function})
            results.append({"role": "tool", "tool_call_id": call_id, "content": outcome.for_model()})
        self.messages += [{"role": "assistant", "content": turn.text, "tool_calls": calls}, *results]
