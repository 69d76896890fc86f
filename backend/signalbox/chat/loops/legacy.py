"""The legacy loop: reads each step that may call tools as a whole, and streams only steps that may not.

It shares the steps (`stepper`), the decisions (`state`, `stop_reason`) and the contract with the V2 loop, and streams
the last answer as that does (`turn`). How it reads steps with tools and runs their calls is separate code
(`whole_reply`): a fault of V2 there is none here.
"""

from signalbox.chat.answer.streamed_reply import begin_streamed_reply
from signalbox.chat.answer.whole_reply import WholeReply
from signalbox.chat.loops.base import BaseLoop
from signalbox.chat.loops.progress import Attempt
from signalbox.chat.loops.state import LoopState, may_call
from signalbox.chat.loops.stepper import Reply
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
