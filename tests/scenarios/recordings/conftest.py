"""Counts of the recordings and chains that passed, printed at the end of the run."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

Count = Callable[[str, str], AbstractContextManager[None]]
_KNOWN: dict[str, int] = {}
_TRIED: defaultdict[str, set[str]] = defaultdict(set)
_FAILED: defaultdict[str, set[str]] = defaultdict(set)


def known(kind: str, number: int) -> None:
    """Add to the number of recordings of a kind."""
    _KNOWN[kind] = number


@pytest.fixture
def counted() -> Count:
    """Count outcomes; a recording has passed if none of its checks failed."""

    @contextmanager
    def count(kind: str, name: str) -> Iterator[None]:
        _TRIED[kind].add(name)
        try:
            yield
        except BaseException:
            _FAILED[kind].add(name)
            raise

    return count


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many recordings and chains passed."""
    for kind, number in _KNOWN.items():
        if _TRIED[kind]:
            terminalreporter.write_line(f"truth: {kind}: {len(_TRIED[kind] - _FAILED[kind])} of {number} passed")
