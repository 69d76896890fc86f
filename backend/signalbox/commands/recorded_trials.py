"""A folder of recorded upstream answers as trials: chains and single exchanges, with the tools that they were given."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from signalbox.chat.context import Limits
from signalbox.chat.plan import RunPlan, schemas_of
from signalbox.core.errors import RequestError
from signalbox.core.messages import JsonObject, JsonValue, Message, UserMessage
from signalbox.core.tools import Tool, ToolContext, ToolSpec
from signalbox.intakes.v1 import messages_of
from signalbox.intakes.v1_schema import ChatRequest
from signalbox.replay.case import Case
from signalbox.replay.parity import Trial
from signalbox.services.tool_executor import ToolExecutor
from signalbox.simulator.http.replay import Library, Recording, load

_TAKEN = ("role", "content", "tool_calls", "tool_call_id")
_ASKED = UserMessage("Use the tools.")


class NoRecordings(Exception):
    """Why a folder cannot be played, as a sentence."""


def recorded(folder: Path) -> list[Trial]:
    """Return a trial for each chain, and for each exchange that stands alone; raises NoRecordings."""
    try:
        library = load(folder)
    except (OSError, ValueError) as error:
        raise NoRecordings(f"{folder} holds no recordings: {error}.") from None
    return [_trial(f"replay/{name}", steps) for name, steps in _sets(library).items()]


def _sets(library: Library) -> dict[str, list[Recording]]:
    sets: defaultdict[str, list[Recording]] = defaultdict(list)
    for recording in library.recordings:
        sets[recording.chain or recording.stem].append(recording)
    return {name: sorted(steps, key=lambda one: one.step) for name, steps in sets.items()}


def _trial(model: str, steps: Sequence[Recording]) -> Trial:
    """Make a case of what was recorded; one more step than recorded is room for an answer."""
    tools = _tools(steps)
    limits = Limits(max_steps=max(2, len(steps)))
    plan = RunPlan(model=model, messages=_messages(steps[0]), tools=schemas_of(tools), limits=limits)
    return Trial(Case(model, plan, is_simulated=True), lambda: ToolExecutor(tools))


def _messages(first: Recording) -> tuple[Message, ...]:
    """Return what was asked, where our API takes it; the recorded answers do not depend on it."""
    bare = [{name: said[name] for name in _TAKEN if name in said} for said in first.messages]
    if not bare:
        return (_ASKED,)
    try:
        return tuple(messages_of(ChatRequest.model_validate({"model": "recorded", "messages": bare})))
    except (ValidationError, RequestError):
        return (_ASKED,)


def _tools(steps: Sequence[Recording]) -> list[Tool]:
    """Make a tool of every function that was offered; each returns its recorded result."""
    found: dict[str, Tool] = {}
    answers = dict(answer for step in steps for answer in _answers(step))
    for name, parameters in (offer for step in steps for offer in _offers(step)):
        found.setdefault(name, _tool(name, parameters, answers.get(name, "done")))
    return [*found.values()]


def _tool(name: str, parameters: JsonObject, answer: str) -> Tool:
    async def run(arguments: JsonObject, context: ToolContext) -> JsonValue:
        return answer

    return Tool(ToolSpec(name, "A recorded tool.", parameters, eager=True), run)


def _offers(step: Recording) -> Iterator[tuple[str, JsonObject]]:
    """Yield what was offered; where the request was not kept, what was called."""
    file = step.path.with_name(f"{step.stem}.json")
    facts: JsonValue = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    for tool in _listed(facts, "request", "tools"):
        function = tool.get("function")
        if isinstance(function, dict) and function.get("name"):
            parameters = function.get("parameters")
            yield str(function["name"]), parameters if isinstance(parameters, dict) else {"type": "object"}
    for call in _listed(facts, "expect", "tool_calls"):
        if call.get("name"):
            yield str(call["name"]), {"type": "object", "additionalProperties": True}


def _listed(facts: JsonValue, *names: str) -> list[JsonObject]:
    """Return the objects of a list that stands in an object in an object; none where it is not there."""
    for name in names:
        facts = facts.get(name) if isinstance(facts, dict) else None
    return [one for one in facts if isinstance(one, dict)] if isinstance(facts, list) else []


def _answers(step: Recording) -> Iterator[tuple[str, str]]:
    """Yield what each tool answered then, by its name."""
    names: dict[str, str] = {}
    for said in step.messages:
        for call in cast("list[dict[str, Any]]", said.get("tool_calls") or []):
            names[call["id"]] = call["function"]["name"]
        if said.get("role") == "tool":
            yield names.get(said.get("tool_call_id", ""), ""), str(said.get("content"))
