"""The names that clients give to their conversations."""

import re

import pytest
from signalbox.intakes.threads import conversation_id_of, is_ours
from signalbox.intakes.v1_schema import NAME


@pytest.mark.parametrize("thread", ["x7Fq-_Zk3", "a" * 32, "0198-4f", "a.b"])
def test_a_thread_that_can_be_an_id_is_one(thread: str) -> None:
    """Its conversation has the same id in the API and on the page."""
    assert conversation_id_of(thread) == thread


@pytest.mark.parametrize("thread", ["a/b", "..", "Grüße an alle", " ", "x" * 200 + "!"])
def test_any_other_text_gets_a_derived_id(thread: str) -> None:
    """The same text always the same one."""
    derived = conversation_id_of(thread)
    assert re.fullmatch(NAME, derived)
    assert derived == conversation_id_of(thread) != conversation_id_of(thread + "2")


def test_our_ids_are_told_from_those_of_clients() -> None:
    """A client's id may be anything else."""
    assert is_ours("0" * 32)
    assert not is_ours("msg_1")
