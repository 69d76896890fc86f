"""The table of mutations matches the code and the tests."""

from collections import Counter

import pytest

from tests.project.docs.test_quirks import IDS
from tests.scenarios.quirks.mutations import MUTATIONS, ROOT, Mutation, named_tests


def _named(mutation: Mutation) -> str:
    return f"{mutation.quirk} {mutation.rule}"


@pytest.mark.parametrize("mutation", MUTATIONS, ids=_named)
def test_each_rule_stands_once_in_its_file(mutation: Mutation) -> None:
    """Removing a rule changes the file and leaves valid Python."""
    source = mutation.path().read_text(encoding="utf-8")
    changed = mutation.taken_out(source)
    assert changed != source
    compile(changed, mutation.file, "exec")


def test_each_rule_has_tests() -> None:
    """Tests with the quirk's id exist, and no rule is listed twice."""
    assert {mutation.quirk for mutation in MUTATIONS} <= {*named_tests()}
    assert max(Counter(map(_named, MUTATIONS)).values()) == 1


def test_each_quirk_has_a_rule() -> None:
    """Every quirk has a mutation."""
    assert {*IDS} == {mutation.quirk for mutation in MUTATIONS}


def test_a_stale_entry_is_named() -> None:
    """A text that occurs never or twice gives an error with the quirk's id and the file."""
    stale = Mutation("A1", "made up", "chat/calls/assembly.py", "no such text", "")
    with pytest.raises(ValueError, match=r"A1 \(made up\): its text stands 0 times in chat/calls/assembly.py"):
        stale.taken_out("a text")
    assert stale.path().is_relative_to(ROOT)
