"""What is taken out of an answer's text as it streams: reasoning between tags, calls that leaked into it."""

from collections.abc import Callable
from itertools import groupby
from operator import attrgetter
from typing import TypeGuard, cast

from msgspec import structs

from signalbox.chat.context import ConversationContext
from signalbox.chat.execution import without_namespace
from signalbox.chat.leaks import LeakFilter
from signalbox.chat.think import ThinkSplitter
from signalbox.core.parts import Completion, StreamPart, TextDelta

# Pieces of text that are looked at together.
_TOGETHER = 32

text_of = cast("Callable[[StreamPart], str]", attrgetter("text"))
"""Return a TextDelta's text."""


class TextFilters:
    """The filters of one answer: for `<think>` where the profile says so, for calls where the run has tools.

    `names` are the tools on offer.
    """

    def __init__(self, context: ConversationContext, names: frozenset[str]) -> None:
        self._names = names
        self._think = ThinkSplitter() if context.profile.inline_think else None
        schemas = {schema.name: schema.parameters for schema in context.tool_schemas}
        self._leaks = LeakFilter(schemas) if schemas else None

    def split(self, parts: list[StreamPart]) -> list[StreamPart]:
        """Return the parts of one read without what does not belong into the text."""
        if self._think is not None:
            parts = self._think.split(parts)
        if self._leaks is None:
            return parts
        out: list[StreamPart] = []
        for kind, alike in groupby(parts, type):
            if kind is TextDelta:
                self._let_out(self._leaks, cast("list[TextDelta]", list(alike)), out)
            else:
                out.extend(alike)
        return out

    def _let_out(self, leaks: LeakFilter, parts: list[TextDelta], out: list[StreamPart]) -> None:
        """Look at some pieces at a time: where nothing in them is to be looked into, none is looked at by itself."""
        for at in range(0, len(parts), _TOGETHER):
            some = parts[at : at + _TOGETHER]
            if leaks.lets_through("".join(map(text_of, some))):
                out.extend(some)
                continue
            for part in some:
                text = leaks.feed(part.text)
                if text is part.text:
                    out.append(part)
                elif text:
                    out.append(TextDelta(text))

    def lets_through(self, part: StreamPart) -> TypeGuard[TextDelta]:
        """Whether a part is plain text that no filter would hold back or look into; then it need not be split."""
        if type(part) is not TextDelta or self._think is not None:
            return False
        return self._leaks is None or self._leaks.lets_through(part.text)

    def close(self) -> list[StreamPart]:
        """Return what was held back and is text after all."""
        parts = self._think.close() if self._think is not None else []
        if self._leaks is None:
            return parts
        out: list[StreamPart] = []
        for part in parts:
            if not isinstance(part, TextDelta):
                out.append(part)
            elif text := self._leaks.feed(part.text):
                out.append(TextDelta(text))
        rest = self._leaks.close()
        return [*out, TextDelta(rest)] if rest else out

    def with_leaked_calls(self, completion: Completion) -> Completion:
        """Return the answer with the calls that were found in its text, or marked as one that leaked (quirk A11).

        Beside calls in their own field a leaked one is a copy (opencodex#5499), and only tools on offer are called.
        """
        if self._leaks is None or completion.calls or not self._leaks.has_markup:
            return completion
        calls = (structs.replace(call, name=without_namespace(call.name, self._names)) for call in self._leaks.leaked)
        return structs.replace(completion, calls=tuple(call for call in calls if call.name in self._names), leaked=True)
