"""The V2 loop: emits each reply while it streams, and starts eager calls as soon as they are complete."""

from signalbox.chat.answer.streamed_reply import begin_streamed_reply
from signalbox.chat.loops.base import BaseLoop
from signalbox.chat.loops.progress import Attempt
from signalbox.chat.loops.state import LoopState
from signalbox.chat.loops.stepper import Reply
from signalbox.chat.loops.stop_reason import may_call
from signalbox.core.parts import Request


class V2Loop(BaseLoop):
    """Streams every step."""

    def begin_reply(self, state: LoopState, request: Request, attempt: Attempt) -> Reply:
        """Stream the reply."""
        return begin_streamed_reply(state, attempt, may_call=may_call(request))
