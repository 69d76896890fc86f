"""The legacy loop: reads each step that may call tools as a whole, and streams only steps that may not.

It shares the steps (`stepper`), the decisions (`state`, `stop_reason`) and the streaming of the last answer
(`streamed_reply`) with the V2 loop. It reads steps with tools with separate code (`whole_reply`), so an error in how V2
reads them does not affect it.
"""

from signalbox.chat.answer.streamed_reply import begin_streamed_reply
from signalbox.chat.answer.whole_reply import WholeReply
from signalbox.chat.loops.base import BaseLoop
from signalbox.chat.loops.progress import Attempt
from signalbox.chat.loops.state import LoopState
from signalbox.chat.loops.stepper import Reply
from signalbox.chat.loops.stop_reason import may_call
from signalbox.core.parts import Request


class LegacyLoop(BaseLoop):
    """Streams only steps that may not call tools."""

    _is_whole = True

    def begin_reply(self, state: LoopState, request: Request, attempt: Attempt) -> Reply:
        """Read the whole reply if the step's first request may call tools; a retry that drops them changes nothing."""
        if attempt.number == 1:
            self._is_whole = may_call(request)
        if self._is_whole:
            return WholeReply(state, attempt, may_call=may_call(request))
        return begin_streamed_reply(state, attempt, may_call=False)
