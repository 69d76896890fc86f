"""The finalize request: same tools, none allowed, an instruction to answer; and the synthetic answer."""

from signalbox.chat.loops.finalize import (
    FILE_WORDS,
    FINAL_WORDS,
    FINAL_WORDS_AGAIN,
    finalize_after_tools,
    missing_answer,
    with_instructions,
)
from signalbox.core.messages import ImagePart, SystemMessage, TextPart, UserMessage

from tests.support.fakes import make_tool
from tests.support.loop_runs import context_for
from tests.support.params import sent

ASK = UserMessage("Hi")


def test_the_same_tools_with_none_allowed() -> None:
    """Tools stay because the history has their calls (C3); the choice is none, and the instruction says so (D2)."""
    context = context_for([make_tool("f")], model="anthropic/x", tool_choice="required")
    request = finalize_after_tools(context)
    assert [tool.name for tool in request.tools] == ["f"]
    assert request.tool_choice == "none"
    assert request.messages == (SystemMessage(FINAL_WORDS), *context.messages)
    assert sent(request.params) == {"parallel_tool_calls": False}


def test_the_hint_and_a_repetition_extend_the_instruction() -> None:
    """The caller's hint follows the instruction; after an empty finalize, the reason follows too."""
    context = context_for([make_tool("f")], finalize_hint="In French.")
    [words, *_] = finalize_after_tools(context, again=True).messages
    assert words == SystemMessage(f"{FINAL_WORDS}\n\nIn French.\n\n{FINAL_WORDS_AGAIN}")


def test_after_calls_for_files_the_model_says_what_is_left() -> None:
    """Otherwise it would write the next file as text."""
    [words, *_] = finalize_after_tools(context_for([make_tool("f")]), used_files=True).messages
    assert words == SystemMessage(f"{FINAL_WORDS}\n\n{FILE_WORDS}")


def test_without_tools_the_instruction_mentions_none() -> None:
    """A request without tools has no choice, and no instruction about tools."""
    request = finalize_after_tools(context_for(), again=True)
    assert request.tool_choice is None
    assert request.messages[0] == SystemMessage(FINAL_WORDS_AGAIN)


def test_the_instruction_follows_the_callers_system_message() -> None:
    """It joins the first system message, in text or in parts; it is never a user turn (C7)."""
    assert with_instructions((SystemMessage("Be brief."), ASK), "Now.") == (SystemMessage("Be brief.\n\nNow."), ASK)
    assert with_instructions((SystemMessage(""), ASK), "Now.") == (SystemMessage("Now."), ASK)
    parts = (TextPart("Look"), ImagePart("https://x/y"))
    assert with_instructions((SystemMessage(parts),), "Now.") == (SystemMessage((*parts, TextPart("Now."))),)
    assert with_instructions((ASK, SystemMessage("late")), "Now.")[0] == SystemMessage("Now.")
    assert with_instructions((ASK,), "") == (ASK,)


def test_the_history_does_not_contain_the_instruction() -> None:
    """The instruction is part of this request only."""
    context = context_for([make_tool("f")])
    finalize_after_tools(context)
    assert context.messages == [UserMessage("What is the tool loop?")]


def test_the_synthetic_answer_lists_the_sources() -> None:
    """It lists the sources by number; a source without a title is listed by URL (D2)."""
    text = missing_answer({2: ("", "https://b"), 1: ("A", "https://a")})
    assert text.splitlines()[-2:] == ["- [1] A: https://a", "- [2] https://b: https://b"]
    assert "source" not in missing_answer({})
    assert missing_answer({}).strip()
