"""The one table of codes: complete, in sentences, and the same words wherever a code is used."""

import pytest
from signalbox.core.codes import CODES, Code
from signalbox.core.errors import RequestError, SignalboxError, ToolError, UpstreamError


@pytest.mark.parametrize("code", list(Code))
def test_every_code_has_its_words(code: Code) -> None:
    """Each code is UPPER_SNAKE and has a sentence and an advice that end like sentences."""
    fact = CODES[code]
    assert code == code.upper()
    assert fact.sentence.endswith(".")
    assert fact.todo.endswith(".")
    assert 400 <= fact.http <= 599


def test_the_table_has_nothing_else() -> None:
    """No words for codes that do not exist."""
    assert set(CODES) == set(Code)


def test_an_error_speaks_for_its_code() -> None:
    """Without words of its own an error has its code's sentence; with them, those; the advice is the code's."""
    assert UpstreamError(Code.RATE_LIMIT).message == CODES[Code.RATE_LIMIT].sentence
    assert str(ToolError(Code.TIMEOUT, "Too slow.")) == "Too slow."
    assert SignalboxError(Code.LENGTH).todo == CODES[Code.LENGTH].todo


def test_whether_to_retry_comes_from_the_table_unless_said() -> None:
    """An upstream's error may know better."""
    assert UpstreamError(Code.RATE_LIMIT).retryable is True
    assert UpstreamError(Code.UPSTREAM_AUTH).retryable is False
    assert UpstreamError(Code.RATE_LIMIT, retryable=False).retryable is False


def test_a_request_error_names_its_field() -> None:
    """The field is a dotted path."""
    assert RequestError(Code.INVALID_REQUEST, "No.", "messages.0").field == "messages.0"
