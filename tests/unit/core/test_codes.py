"""What the codes advise, for clients of a server and for programs alike."""

import re

import pytest
from signalbox.core.codes import CODES, Code

_SETTING = re.compile(r"(.{0,14})\b(?:OPENROUTER|SIGNALBOX)_[A-Z_]+")
_OF_RUNS = [*Code][[*Code].index(Code.UPSTREAM_AUTH) :]


def test_advice_on_runs_says_which_settings_are_a_servers() -> None:
    """A program has no settings, so each is named as a server's, beside what both have."""
    named = {code: match[1] for code in _OF_RUNS for match in _SETTING.finditer(CODES[code].todo)}
    assert set(named) == {Code.UPSTREAM_AUTH, Code.UPSTREAM_NOT_FOUND, Code.UPSTREAM_UNREACHABLE}
    assert {words for words in named.values() if not words.endswith("(on a server: ")} == set()


@pytest.mark.parametrize("code", Code)
def test_every_code_has_a_sentence_and_advice(code: Code) -> None:
    """Both end with a full stop."""
    assert CODES[code].sentence.endswith(".")
    assert CODES[code].todo.endswith(".")
