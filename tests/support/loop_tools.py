"""Helpers for tests of a loop: read-only tools, a scripted search, event names."""

from collections.abc import Callable
from typing import Any

from signalbox.core.events import AnyEvent
from signalbox.core.messages import (
    AssistantMessage,
    JsonObject,
)
from signalbox.core.tools import Tool, ToolContext
from signalbox.tools.search_web import search_web

from tests.support.fakes import FakeSearch, make_tool
from tests.support.loop_runs import Outcome

Q = '{"query":"tides"}'


def searching(**settings: Any) -> tuple[FakeSearch, Tool]:
    """Make a scripted search backend and its tool."""
    backend = FakeSearch(**settings)
    return backend, search_web(backend, None)


def eager(name: str, work: Callable[[JsonObject, ToolContext], object] | None = None, **settings: Any) -> Tool:
    """Make a read-only tool."""
    return make_tool(name, work, eager=True, **settings)


def kinds(events: list[AnyEvent]) -> list[str]:
    """Return the type of each event."""
    return [type(event).__name__ for event in events]


def assistants(outcome: Outcome) -> list[AssistantMessage]:
    """Return the assistant messages that the run added."""
    added = outcome.context.messages[outcome.context.loop_start :]
    return [message for message in added if isinstance(message, AssistantMessage)]
