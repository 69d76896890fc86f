"""Filters an answer's text as it streams: reasoning between tags, and calls that leaked into the text."""

from collections.abc import Callable
from operator import attrgetter
from typing import cast

from msgspec import structs

from signalbox.chat.answer.think_tags import ThinkSplitter
from signalbox.chat.calls.execution import without_namespace
from signalbox.chat.context import ConversationContext
from signalbox.chat.leaks import LeakFilter
from signalbox.core.messages import JsonObject
from signalbox.core.parts import Completion, StreamPart, TextDelta, ToolSchema

text_of = cast("Callable[[StreamPart], str]", attrgetter("text"))
"""Return a TextDelta's text."""
_schema_of = cast("Callable[[ToolSchema], tuple[str, JsonObject]]", attrgetter("name", "parameters"))


class TextFilters:
    """The filters of one answer: `<think>` tags if the profile says so, leaked calls if the run has tools.

    `names` are the offered tools.
    """

    def __init__(self, context: ConversationContext, names: frozenset[str]) -> None:
        self._names = names
        self._think = ThinkSplitter() if context.profile.inline_think else None
        schemas = dict(map(_schema_of, context.tool_schemas))
        self._leaks = LeakFilter(schemas) if schemas else None

    def split_reasoning(self, parts: list[StreamPart]) -> list[StreamPart]:
        """Return the parts of one read, with reasoning in the text as reasoning parts."""
        return parts if self._think is None else self._think.split(parts)

    def filter_text(self, texts: list[str]) -> list[str]:
        """Return the text that may be emitted now; markup of calls is dropped, or held back."""
        return texts if self._leaks is None else self._leaks.feed_all(texts)

    @property
    def passes_text(self) -> Callable[[str], bool]:
        """A predicate: whether every filter passes a text as it is, so that it needs no splitting."""
        if self._think is not None:
            return _never
        return _always if self._leaks is None else self._leaks.passes_text

    def flush(self) -> list[StreamPart]:
        """Return what `split_reasoning` has held back."""
        return self._think.close() if self._think is not None else []

    def flush_text(self) -> list[str]:
        """Return what `filter_text` has held back and turned out to be text."""
        rest = self._leaks.close() if self._leaks is not None else ""
        return [rest] if rest else []

    def filter_parts(self, parts: list[StreamPart]) -> list[StreamPart]:
        """Return parts of a whole answer, filtered."""
        return self._without_calls(self.split_reasoning(parts))

    def flush_parts(self) -> list[StreamPart]:
        """Return what was held back of a whole answer."""
        return [*self._without_calls(self.flush()), *map(TextDelta, self.flush_text())]

    def _without_calls(self, parts: list[StreamPart]) -> list[StreamPart]:
        out: list[StreamPart] = []
        for part in parts:
            if isinstance(part, TextDelta):
                out.extend(map(TextDelta, self.filter_text([part.text])))
            else:
                out.append(part)
        return out

    def with_leaked_calls(self, completion: Completion) -> Completion:
        """Return the answer with the calls found in its text, and marked as leaked (quirk A11).

        Next to calls in their own field, a leaked one is a copy (opencodex#5499). Only offered tools are called.
        """
        if self._leaks is None or completion.calls or not self._leaks.has_markup:
            return completion
        calls = (structs.replace(call, name=without_namespace(call.name, self._names)) for call in self._leaks.leaked)
        return structs.replace(completion, calls=tuple(call for call in calls if call.name in self._names), leaked=True)


def _always(_: str) -> bool:
    return True


def _never(_: str) -> bool:
    return False
