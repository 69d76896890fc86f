"""Plans the calls of the offered tools that a question needs, step by step."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from ..http.incoming import Incoming, Tool, calls_of, is_named, text_of
from ..json_values import as_object
from ..products import is_product_search, product_call
from .intents import DEEP, Intent, asked_for
from .notes import save_call, split_note
from .tool_results import Result, read_result
from .turns import Call
from .values import URL, Values

_NEWS = re.compile(r"\b(?:latest|news|this week|recent(?:ly)?|today's)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call of this loop and its result."""

    name: str
    arguments: Any
    result: Result


def first_argument(exchange: Exchange) -> str:
    """Return the value of a call's first argument, such as the query."""
    return str(next(iter(as_object(exchange.arguments).values()), ""))


def exchanges(incoming: Incoming) -> list[Exchange]:
    """Return the calls of the open tool loop with their results, in order; those sent as text first."""
    as_text = [Exchange(one.name, _json(one.arguments), read_result(one.result)) for one in incoming.text_results]
    loop = [message for _, message in incoming.loop()]
    results = {str(message.get("tool_call_id")): text_of(message) for message in loop if message.get("role") == "tool"}
    called = [
        Exchange(
            call["function"]["name"],
            _json(call["function"].get("arguments")),
            read_result(results.get(str(call["id"]), "")),
        )
        for message in loop
        for call in calls_of(message)
    ]
    return as_text + called


def _json(arguments: str | None) -> Any:
    try:
        return orjson.loads(arguments or "{}")
    except orjson.JSONDecodeError:
        return None


def next_calls(incoming: Incoming, made: list[Exchange]) -> list[Call]:
    """Return the calls of the next step, or none if the model should answer."""
    planned = planned_calls(incoming)
    if len(made) > sum(map(len, planned)) + 1:
        return []
    done = [(exchange.name, exchange.arguments) for exchange in made]
    for stage in planned:
        left = [call for call in stage if (call.name, call.arguments) not in done]
        if left:
            return left if incoming.parallel else left[:1]
    return _follow_up(incoming, planned, made)


def wanted(incoming: Incoming) -> list[list[Intent]]:
    """Return the stages of the question, given the earlier messages."""
    return asked_for(split_note(incoming.question)[0], incoming.earlier)


def planned_calls(incoming: Incoming) -> list[list[Call]]:
    """Return the stages of the question as calls of the offered tools."""
    if shopping := product_call(incoming):
        found = [[shopping]]
    else:
        found = [[call for intent in stage for call in _call(incoming, intent)] for stage in wanted(incoming)]
    found = [stage for stage in found if stage]
    named = [call for call in _named(incoming) if all(call.name != other.name for stage in found for other in stage)]
    if named:
        # If the question names a tool, its words are not searched for.
        found = [[call for call in stage if not is_named(call.name, "search")] for stage in found]
        found = [named + (found[0] if found else []), *found[1:]]
    found = [stage for stage in [*found, _note(incoming)] if stage]
    forced = _forced(incoming, found)
    return [forced] if forced else found


def _call(incoming: Incoming, intent: Intent) -> list[Call]:
    maker: dict[str, Callable[[Incoming, str], Call | None]] = {
        "search": search_call,
        "calculate": calculate_call,
        "time": time_call,
    }
    call = maker[intent.kind](incoming, intent.subject) if intent.kind in maker else None
    return [call] if call else []


def _note(incoming: Incoming) -> list[Call]:
    """Return the call that saves the requested note, which comes last."""
    note = split_note(incoming.question)[1]
    call = save_call(incoming, note) if note and note.text else None
    return [call] if call else []


def search_call(incoming: Incoming, query: str) -> Call | None:
    """Return a call of the offered search tool, with a time hint for news."""
    searching = (tool for tool in incoming.tools if is_named(tool.name, "search"))
    tool = next((tool for tool in searching if not is_product_search(tool.name)), None)
    if tool is None:
        return None
    arguments: dict[str, Any] = {tool.main_property("query", "q"): query}
    if "time_hint" in tool.properties and _NEWS.search(incoming.question):
        arguments["time_hint"] = "week"
    return Call(tool.name, arguments)


def calculate_call(incoming: Incoming, expression: str) -> Call | None:
    """Return a call of the offered calculator."""
    tool = incoming.tool("calc", "math", "evaluate")
    if tool is None:
        return None
    return Call(tool.name, {tool.main_property("expression", "expr", "formula"): expression})


def time_call(incoming: Incoming, zone: str) -> Call | None:
    """Return a call of the offered clock; without a zone, it has no arguments if the tool allows that."""
    tool = incoming.tool("time", "date", "clock")
    if tool is None:
        return None
    name = tool.property_like("timezone", "zone", "tz")
    if name is None or (not zone and name not in tool.required):
        return Call(tool.name, {})
    return Call(tool.name, {name: zone or "UTC"})


def _named(incoming: Incoming) -> list[Call]:
    """Return calls of the tools that the text names, and of a tool that reads URLs if the text has one."""
    text = split_note(incoming.question)[0]
    found = [filled(tool, text) for tool in incoming.tools if _names(text, tool.name)]
    reader = next((tool for tool in incoming.tools if "url" in tool.required), None)
    if reader and URL.search(text) and all(call.name != reader.name for call in found):
        found.append(filled(reader, text))
    return found


def _names(text: str, name: str) -> bool:
    return re.search(_spelled(name), text, re.IGNORECASE) is not None


def _spelled(name: str) -> str:
    """Return a pattern for a tool's name as users write it."""
    return rf"\b{re.escape(name).replace('_', '[ _-]')}\b"


def _forced(incoming: Incoming, planned: list[list[Call]]) -> list[Call]:
    """Return the calls that `tool_choice` forces: of the named tool, or of any tool if one is required."""
    choice = incoming.tool_choice
    if choice in ("auto", "none"):
        return []
    calls = [call for stage in planned for call in stage if choice in ("required", call.name)]
    if calls:
        return calls if choice != "required" else []
    if choice == "required":
        call = search_call(incoming, incoming.question) if incoming.question else None
        return [call or filled(incoming.tools[0], incoming.question)]
    return [filled(tool, incoming.question) for tool in incoming.tools if tool.name == choice][:1]


def filled(tool: Tool, text: str) -> Call:
    """Return a call with the JSON arguments after its name in the text, else with values for its schema."""
    given = _written_out(tool.name, text)
    return Call(tool.name, Values(text, tool.schema).fields(tool.schema) if given is None else given)


def _written_out(name: str, text: str) -> dict[str, Any] | None:
    """Return the object of `name {"argument": …}` in a text, or None."""
    match = re.search(rf"{_spelled(name)}\W{{0,3}}(?:with\s+)?(?=\{{)", text, re.IGNORECASE)
    if match is None:
        return None
    try:
        _, end = json.JSONDecoder().raw_decode(text, match.end())
        value: object = orjson.loads(text[match.end() : end])  # rejects what cannot be sent: \ud800, 1e400
    except (ValueError, RecursionError):
        return None
    return as_object(value)


def _follow_up(incoming: Incoming, planned: list[list[Call]], made: list[Exchange]) -> list[Call]:
    """Return a second search: with fewer words if nothing was found, or a deeper one if the question asks for it."""
    searches = [one for one in made if is_named(one.name, "search") and not is_product_search(one.name)]
    if len(made) != sum(map(len, planned)) or len(searches) != 1 or searches[0].result.error:
        return []
    query = str(as_object(searches[0].arguments).get("query", ""))
    items = searches[0].result.items
    if not items:
        words = sorted(query.split(), key=len, reverse=True)[:2]
        shorter = " ".join(word for word in query.split() if word in words)
        call = search_call(incoming, shorter) if shorter != query else None
    else:
        known = query.lower().split()
        title = re.findall(r"[^\W\d_]{4,}", " ".join(item.title for item in items))
        new = [word for word in title if word.lower() not in known][:2]
        call = search_call(incoming, f"{query} {' '.join(new)}") if new and DEEP.search(incoming.question) else None
    return [call] if call else []
