"""What is taken out of an answer's text as it streams: reasoning between tags, calls that leaked into it."""

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
    """The filters of one answer: for `<think>` where the profile says so, for calls where the run has tools.

    `names` are the tools on offer.
    """

    def __init__(self, context: ConversationContext, names: frozenset[str]) -> None:
        self._names = names
        self._think = ThinkSplitter() if context.profile.inline_think else None
        schemas = dict(map(_schema_of, context.tool_schemas))
        self._leaks = LeakFilter(schemas) if schemas else None

    def split(self, parts: list[StreamPart]) -> list[StreamPart]:
        """Return the parts of one read with reasoning that stood in the text as what it is."""
        return parts if self._think is None else self._think.split(parts)

    def shown(self, texts: list[str]) -> list[str]:
        """Return the text that may be told now; what belongs to a call is left out, or held back."""
        return texts if self._leaks is None else self._leaks.feed_all(texts)

    @property
    def lets_through(self) -> Callable[[str], bool]:
        """What says whether no filter would hold a text back or look into it; then it need not be split."""
        if self._think is not None:
            return _never
        return _always if self._leaks is None else self._leaks.lets_through

    def close(self) -> list[StreamPart]:
        """Return what `split` has held back."""
        return self._think.close() if self._think is not None else []

    def rest(self) -> list[str]:
        """Return what `shown` has held back and is text after all."""
        rest = self._leaks.close() if self._leaks is not None else ""
        return [rest] if rest else []

    def some(self, parts: list[StreamPart]) -> list[StreamPart]:
        """Return parts of a whole answer without what does not belong into the text."""
        return self._sorted(self.split(parts))

    def last(self) -> list[StreamPart]:
        """Return what was held back of a whole answer."""
        return [*self._sorted(self.close()), *map(TextDelta, self.rest())]

    def _sorted(self, parts: list[StreamPart]) -> list[StreamPart]:
        out: list[StreamPart] = []
        for part in parts:
            if isinstance(part, TextDelta):
                out.extend(map(TextDelta, self.shown([part.text])))
            else:
                out.append(part)
        return out

    def with_leaked_calls(self, completion: Completion) -> Completion:
        """Return the answer with the calls that were found in its text, or marked as one that leaked (quirk A11).

        Beside calls in their own field a leaked one is a copy (opencodex#5499), and only tools on offer are called.
        """
        if self._leaks is None or completion.calls or not self._leaks.has_markup:
            return completion
        calls = (structs.replace(call, name=without_namespace(call.name, self._names)) for call in self._leaks.leaked)
        return structs.replace(completion, calls=tuple(call for call in calls if call.name in self._names), leaked=True)


def _always(_: str) -> bool:
    return True


def _never(_: str) -> bool:
    return False
