"""Reads a reply as a whole: nothing is emitted and no call starts before it is complete."""

import asyncio

from msgspec import UNSET

from signalbox.chat.answer.attachments import attachment_events, attachments_of
from signalbox.chat.answer.logprobs import logprobs_events
from signalbox.chat.answer.response import parse_completion_response
from signalbox.chat.answer.streamed_reply import runnable
from signalbox.chat.answer.text_filters import TextFilters
from signalbox.chat.calls.repair import RepairedCall, repaired
from signalbox.chat.loops.progress import Attempt
from signalbox.chat.loops.state import LoopState
from signalbox.chat.loops.stop_reason import TurnEnd, is_malformed
from signalbox.core.bounds.part_slices import slices_of, texts_of
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Content, Reasoning
from signalbox.core.parts import Completion, Request, StreamPart
from signalbox.core.ports import ChatClient


class WholeReply:
    """The reply to one attempt of the legacy loop. It is visible only once no retry follows."""

    is_visible = False
    shows_calls = False

    def __init__(self, state: LoopState, attempt: Attempt, *, may_call: bool) -> None:
        self.may_call = may_call
        self.completion = Completion()
        self._state = state
        self._attempt = attempt
        attempt.streamed = False

    async def read_reply(self, client: ChatClient, request: Request) -> None:
        """Read the reply, and filter it in slices, so that other runs continue; raises UpstreamError."""
        attempt, progress = self._attempt, self._state.progress
        try:
            self.completion = await self._parsed(await client.complete(request, progress.record_head))
        except UpstreamError as error:
            if error.code is Code.STREAM_CUT:  # the reply had begun, and may cost something
                attempt.first_part = progress.clock()
            raise
        attempt.first_part = progress.clock()

    async def _parsed(self, parts: list[StreamPart]) -> Completion:
        names = self._state.context.tool_names
        filters = TextFilters(self._state.context, names)
        filtered: list[StreamPart] = []
        for slice_ in slices_of(parts):
            filtered += filters.filter_parts(slice_)
            if len(slice_) < len(parts):
                await asyncio.sleep(0)
        return filters.with_leaked_calls(parse_completion_response([*filtered, *filters.flush_parts()], names))

    def finish(self) -> Completion:
        """Return the reply; an empty one if it was not read to its end."""
        return self.completion

    @property
    def has_words(self) -> bool:
        """Whether its text is shown."""
        return not self._is_malformed and bool((self.completion.content + self.completion.refusal).strip())

    @property
    def _is_malformed(self) -> bool:
        """Whether its text is the rest of a call (quirk A13), which is not shown."""
        return self.may_call and is_malformed(self.completion)

    def remaining_events(self) -> list[AnyEvent]:
        """Return the events of the whole reply: reasoning, then text, each in one piece unless it is long."""
        completion, state = self.completion, self._state
        step = state.progress.steps
        events: list[AnyEvent] = []
        if completion.reasoning or completion.reasoning_details:
            hidden = True if not completion.reasoning else UNSET
            events += [Reasoning(text, step, hidden) for text in texts_of(completion.reasoning) or [""]]
        if self._is_malformed:
            return events
        if state.has_emitted_text and (completion.content or completion.refusal):
            events.append(Content("\n\n"))
        if state.context.emits_logprobs:
            events += logprobs_events(completion.logprobs)
        events += map(Content, texts_of(completion.content))
        if completion.refusal:
            events.append(Content(completion.refusal, refusal=True))
        return events + attachment_events(attachments_of(completion), state.execution.tool_context.sources, step)

    def settle_previews(self) -> list[AnyEvent]:
        """Return nothing: the calls of a whole reply have no previews."""
        return []

    def calls(self, end: TurnEnd) -> list[RepairedCall]:
        """Return the calls of the complete reply in order; none is running yet."""
        return [runnable(call, end) for raw in self.completion.calls for call in repaired(raw)]
