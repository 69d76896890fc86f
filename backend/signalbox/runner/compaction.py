"""Replaces a long conversation by a summary that the model writes."""

from collections.abc import Callable

from msgspec import structs

from signalbox.chat.loops.progress import Attempt
from signalbox.chat.loops.state import LoopState
from signalbox.chat.loops.stepper import LoopInputs, Reply, Stepper
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import Message, SystemMessage, UserMessage
from signalbox.core.parts import Request

_REQUEST = (
    "Summarize this conversation; your summary is about to replace it. Keep what is needed to go on: the "
    "user's request, what was done, what tools have found (with names, numbers and addresses), and what is still open."
)
_INTRODUCTION = "The conversation so far was replaced by this summary. Go on from there.\n\n"


async def compacted(inputs: LoopInputs, begin_reply: Callable[[LoopState, Request, Attempt], Reply]) -> list[Message]:
    """Return the conversation as its system messages and a summary; empty if the model writes none.

    The request for it holds the whole conversation, the system messages and the tools, of which it may call none. It is
    one more model call, with the retries of any other, and its text is not part of the answer.
    """
    context = inputs.context
    messages = [*context.messages, UserMessage(_REQUEST)]
    asking = structs.replace(
        context,
        messages=messages,
        tool_choice="none",
        open_loop=len(messages) - context.loop_start,
        limits=structs.replace(context.limits, max_steps=inputs.progress.steps + 2),
    )
    # The step does not count towards the caller's limit.
    context.limits = structs.replace(context.limits, max_steps=context.limits.max_steps + 1)
    async with Stepper(structs.replace(inputs, context=asking), emit=lambda _: None) as stepper:
        try:
            summary = (await stepper.ask(begin_reply)).completion.content.strip()
        except UpstreamError:
            return []  # the run goes on with the whole conversation
    kept = [message for message in context.messages if isinstance(message, SystemMessage)]
    return [*kept, UserMessage(_INTRODUCTION + summary)] if summary else []
