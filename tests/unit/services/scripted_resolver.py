"""A resolver with scripted answers for the tests of the page fetcher, and the error of a failing fetch."""

from collections.abc import Sequence

import pytest
from signalbox.core.errors import ToolError
from signalbox.services.fetch import PageFetcher


class Names:
    """A resolver with scripted answers for each name; it counts lookups."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self.answers = {name.replace("_", "."): list(turns) for name, turns in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        turns = self.answers.get(host)
        if turns is None:
            raise OSError("no such name")
        return turns.pop(0) if len(turns) > 1 else turns[0]


async def failure(fetcher: PageFetcher, url: str) -> ToolError:
    """Return the error of a failing fetch."""
    with pytest.raises(ToolError) as raised:
        await fetcher.fetch(url)
    return raised.value
