"""The last request: the same tools, none allowed, told in words; and our own sentence when it brings nothing."""

from signalbox.chat.loops.finalize import (
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
    """Tools stay, as the history holds their calls (C3); the choice is none, and the words say it (D2)."""
    context = context_for([make_tool("f")], model="anthropic/x", tool_choice="required")
    request = finalize_after_tools(context)
    assert [tool.name for tool in request.tools] == ["f"]
    assert request.tool_choice == "none"
    assert request.messages == (SystemMessage(FINAL_WORDS), *context.messages)
    assert sent(request.params) == {"parallel_tool_calls": False}


def test_a_hint_and_a_second_time_add_words() -> None:
    """The caller's hint follows our words; the second time says what went wrong."""
    context = context_for([make_tool("f")], finalize_hint="In French.")
    [words, *_] = finalize_after_tools(context, again=True).messages
    assert words == SystemMessage(f"{FINAL_WORDS}\n\nIn French.\n\n{FINAL_WORDS_AGAIN}")


def test_without_tools_there_is_nothing_to_switch_off() -> None:
    """No tools: no choice and no words about them."""
    request = finalize_after_tools(context_for(), again=True)
    assert request.tool_choice is None
    assert request.messages[0] == SystemMessage(FINAL_WORDS_AGAIN)


def test_words_go_behind_the_callers_instructions() -> None:
    """Words join the first system message, in text or in parts; they are never a user turn (C7)."""
    assert with_instructions((SystemMessage("Be brief."), ASK), "Now.") == (SystemMessage("Be brief.\n\nNow."), ASK)
    assert with_instructions((SystemMessage(""), ASK), "Now.") == (SystemMessage("Now."), ASK)
    parts = (TextPart("Look"), ImagePart("https://x/y"))
    assert with_instructions((SystemMessage(parts),), "Now.") == (SystemMessage((*parts, TextPart("Now."))),)
    assert with_instructions((ASK, SystemMessage("late")), "Now.")[0] == SystemMessage("Now.")
    assert with_instructions((ASK,), "") == (ASK,)


def test_the_history_does_not_keep_the_words() -> None:
    """They are for this request alone."""
    context = context_for([make_tool("f")])
    finalize_after_tools(context)
    assert context.messages == [UserMessage("What is the tool loop?")]


def test_our_sentence_names_the_sources() -> None:
    """In place of an answer stand the sources, by their numbers; a source without a title is its address (D2)."""
    text = missing_answer({2: ("", "https://b"), 1: ("A", "https://a")})
    assert text.splitlines()[-2:] == ["- [1] A: https://a", "- [2] https://b: https://b"]
    assert "source" not in missing_answer({})
    assert missing_answer({}).strip()
