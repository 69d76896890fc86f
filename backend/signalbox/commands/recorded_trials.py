"""Turns a folder of recorded upstream answers into parity trials."""

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
from signalbox.simulator.http.replay import Recording, Recordings, load

_TAKEN = ("role", "content", "tool_calls", "tool_call_id")
_ASKED = UserMessage("Use the tools.")


class NoRecordings(Exception):
    """A folder cannot be used; the message is a sentence."""


def recorded(folder: Path) -> list[Trial]:
    """Return a trial for each chain and each single exchange; raises NoRecordings."""
    try:
        recordings = load(folder)
    except (OSError, ValueError) as error:
        raise NoRecordings(f"{folder} contains no recordings: {error}.") from None
    return [_trial(f"replay/{name}", steps) for name, steps in _sets(recordings).items()]


def _sets(recordings: Recordings) -> dict[str, list[Recording]]:
    sets: defaultdict[str, list[Recording]] = defaultdict(list)
    for recording in recordings.recordings:
        sets[recording.chain or recording.stem].append(recording)
    return {name: sorted(steps, key=lambda one: one.step) for name, steps in sets.items()}


def _trial(model: str, steps: Sequence[Recording]) -> Trial:
    """Make a trial of recorded steps; at least two steps, so that the model can answer."""
    tools = _tools(steps)
    limits = Limits(max_steps=max(2, len(steps)))
    plan = RunPlan(model=model, messages=_messages(steps[0]), tools=schemas_of(tools), limits=limits)
    return Trial(Case(model, plan, is_simulated=True), lambda: ToolExecutor(tools))


def _messages(first: Recording) -> tuple[Message, ...]:
    """Return the recorded messages if our API accepts them, else a stand-in; the answers do not depend on them."""
    bare = [{name: said[name] for name in _TAKEN if name in said} for said in first.messages]
    if not bare:
        return (_ASKED,)
    try:
        return tuple(messages_of(ChatRequest.model_validate({"model": "recorded", "messages": bare})))
    except (ValidationError, RequestError):
        return (_ASKED,)


def _tools(steps: Sequence[Recording]) -> list[Tool]:
    """Make a tool of every offered function; each returns its recorded result."""
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
    """Yield the offered functions with their parameters; without a recorded request, the called ones."""
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
    """Return the objects in the list at a path of names, empty if it does not exist."""
    for name in names:
        facts = facts.get(name) if isinstance(facts, dict) else None
    return [one for one in facts if isinstance(one, dict)] if isinstance(facts, list) else []


def _answers(step: Recording) -> Iterator[tuple[str, str]]:
    """Yield each recorded tool result with the name of its tool."""
    names: dict[str, str] = {}
    for said in step.messages:
        for call in cast("list[dict[str, Any]]", said.get("tool_calls") or []):
            names[call["id"]] = call["function"]["name"]
        if said.get("role") == "tool":
            yield names.get(said.get("tool_call_id", ""), ""), str(said.get("content"))
