"""The finalize request: the same tools, none of them allowed, and an instruction to answer."""

from collections.abc import Mapping

from msgspec import structs

from signalbox.chat.context import ConversationContext
from signalbox.chat.params import prepare_request_params
from signalbox.core.messages import Content, Message, SystemMessage, TextPart
from signalbox.core.parts import Request

# The model does not see tool_choice "none": without these words, Claude and GPT plan a call and return nothing (D2).
FINAL_WORDS = (
    "Tools are off from here on. Answer the user's request now, in words, from what is in this conversation. "
    "The tool results above are current: rely on them. If they hold nothing that helps, say so plainly."
)
FILE_WORDS = (
    "The files are saved as they are now. Say in a few sentences what they contain and what is left to do, "
    "without repeating their content."
)
FINAL_WORDS_AGAIN = "Your last turn was empty. Write the answer to the user's request now, as plain text."


def finalize_after_tools(context: ConversationContext, *, again: bool = False, used_files: bool = False) -> Request:
    """Build the finalize request: same tools, `tool_choice: "none"`, and an instruction; `again` after an empty one.

    `used_files`: the run has called tools that work on files. Otherwise the model would write the next file as text.

    The instruction goes into the system message. Mistral rejects a user turn after tool results (quirk C7), and in the
    history it would be text that the user never wrote.
    """
    request = prepare_request_params(context, first=False)
    words = [
        FINAL_WORDS if context.tool_schemas else "",
        FILE_WORDS if used_files else "",
        context.finalize_hint,
        FINAL_WORDS_AGAIN if again else "",
    ]
    return structs.replace(
        request,
        messages=with_instructions(request.messages, "\n\n".join(filter(None, words))),
        tool_choice="none" if request.tools else None,
    )


def with_instructions(messages: tuple[Message, ...], words: str) -> tuple[Message, ...]:
    """Append an instruction to the system message, or add one."""
    if not words:
        return messages
    if messages and isinstance(messages[0], SystemMessage):
        return (SystemMessage(_append(messages[0].content, words)), *messages[1:])
    return (SystemMessage(words), *messages)


def _append(content: Content, words: str) -> Content:
    if isinstance(content, str):
        return f"{content}\n\n{words}" if content else words
    return (*content, TextPart(words))


def missing_answer(sources: Mapping[int, tuple[str, str]]) -> str:
    """Return the synthetic answer for a model that returned none, with the sources that were found."""
    sentence = "The model gave no answer after using its tools."
    if not sources:
        return sentence
    lines = [f"- [{n}] {title or url}: {url}" for n, (title, url) in sorted(sources.items())]
    return "\n".join([f"{sentence} These sources were found:", "", *lines])
