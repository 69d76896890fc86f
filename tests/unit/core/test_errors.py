"""The table of codes is complete, and errors use its sentences."""

import copy
import pickle
from collections.abc import Callable

import pytest
from signalbox.core.codes import CODES, Code
from signalbox.core.errors import RequestError, SignalboxError, ToolError, UpstreamError
from signalbox.core.parts import Usage
from signalbox.runner.answer import Answer
from signalbox.runner.errors import RunError, UsageError
from signalbox.runner.loop_thread import LoopClosingError


@pytest.mark.parametrize("code", list(Code))
def test_every_code_has_a_sentence_and_an_action(code: Code) -> None:
    """Each code is UPPER_SNAKE, with a sentence and an action that end like sentences."""
    fact = CODES[code]
    assert code == code.upper()
    assert fact.sentence.endswith(".")
    assert fact.todo.endswith(".")
    assert 400 <= fact.http <= 599


def test_the_action_for_an_invalid_field_fits_programs_and_people() -> None:
    """The chat page and the operator page show it, where no response and no `field` can be seen."""
    assert "`" not in CODES[Code.INVALID_REQUEST].todo


def test_the_table_has_only_existing_codes() -> None:
    """Every entry of the table belongs to a code."""
    assert set(CODES) == set(Code)


def test_an_error_has_the_sentence_of_its_code() -> None:
    """Without a message an error has its code's sentence; the action is always the code's."""
    assert UpstreamError(Code.RATE_LIMIT).message == CODES[Code.RATE_LIMIT].sentence
    assert str(ToolError(Code.TIMEOUT, "Too slow.")) == "Too slow."
    assert SignalboxError(Code.LENGTH).todo == CODES[Code.LENGTH].todo


def test_retryable_defaults_to_the_table() -> None:
    """An upstream error may override it."""
    assert UpstreamError(Code.RATE_LIMIT).retryable is True
    assert UpstreamError(Code.UPSTREAM_AUTH).retryable is False
    assert UpstreamError(Code.RATE_LIMIT, retryable=False).retryable is False


def test_a_request_error_names_its_field() -> None:
    """The field is a dotted path."""
    assert RequestError(Code.INVALID_REQUEST, "No.", "messages.0").field == "messages.0"


@pytest.mark.parametrize("remake", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
@pytest.mark.parametrize(
    "error",
    [
        SignalboxError(Code.LENGTH),
        RequestError(Code.INVALID_REQUEST, "No.", "messages.0", status=418, retry_after=3.0),
        UpstreamError(Code.RATE_LIMIT, "Later.", status=429, retry_after=9.0, retryable=False, affordable=7),
        ToolError(Code.TOOL_FAILED, "Broken.", artifact={"rows": [1]}),
        RunError(Answer("So f", "interrupted", "STREAM_CUT", "It broke off.", Usage(input=3), steps=2)),
        UsageError("Twice."),
        LoopClosingError("Another thread is ending the run."),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_copy_has_all_attributes(error: Exception, remake: Callable[[Exception], Exception]) -> None:
    """`copy`, and `pickle` as multiprocessing uses it, keep the type, the message and every attribute."""
    error.add_note("in worker 3")
    again = remake(error)
    assert (type(again), again.args, str(again)) == (type(error), error.args, str(error))
    assert vars(again) == vars(error)
    assert again.__notes__[-1] == "in worker 3"
