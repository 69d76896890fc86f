"""The journal in memory: append, read behind a cursor, forget."""

from signalbox.core.events import Content, Stamped
from signalbox.store.memory import MemoryStore


def stamped(*seqs: int) -> list[Stamped]:
    """Make events with these numbers."""
    return [Stamped(seq, 0, Content(str(seq))) for seq in seqs]


def test_read_behind_a_cursor() -> None:
    """Everything after the number is returned, in order, whether the number itself exists or not."""
    store = MemoryStore()
    store.append("r", stamped(1, 2))
    store.append("r", stamped(5, 9))
    assert store.read("r", 0) == stamped(1, 2, 5, 9)
    assert store.read("r", 2) == store.read("r", 4) == stamped(5, 9)
    assert store.read("r", 9) == store.read("r", 100) == []
    assert store.read("r", -1) == stamped(1, 2, 5, 9)


def test_runs_are_apart() -> None:
    """One run's events are never another's, and an unknown run has none."""
    store = MemoryStore()
    store.append("a", stamped(1))
    store.append("b", stamped(2))
    assert (store.read("a", 0), store.read("b", 0), store.read("c", 0)) == (stamped(1), stamped(2), [])


def test_what_was_read_is_the_readers() -> None:
    """Later events do not appear in a list that was handed out."""
    store = MemoryStore()
    store.append("r", stamped(1))
    read = store.read("r", 0)
    store.append("r", stamped(2))
    assert read == stamped(1)


def test_forget() -> None:
    """A forgotten run is gone, and forgetting it twice is no error."""
    store = MemoryStore()
    store.append("r", stamped(1))
    store.forget("r")
    store.forget("r")
    assert store.read("r", 0) == []
