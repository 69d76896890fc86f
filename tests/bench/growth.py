"""Rows that show whether a cost is linear: each size is doubled twice, and the CPU times are compared."""

import http.client
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.bench.figures import Figure
from tests.bench.loads import CHAT, Load
from tests.bench.processes import Child
from tests.bench.rig import Rig
from tests.bench.rounds import SETTLE, print_status

# Ratios of a doubling above this are marked: 1 is constant, 2 linear, 4 quadratic.
MARKED_ABOVE = 2.5
_WORDS = (
    "A sentence of the kind that people write to a model, with a second half, some hundred and twenty letters long. "
)
_STREAMS = 2
# Seconds; long, because a slow machine may take minutes for a long answer.
_TIMEOUT = 600


@dataclass(slots=True)
class DoubledLoad:
    """A load at three sizes, each twice the one before. `cost(child, size)` runs it once and returns CPU seconds."""

    row: str
    sizes: tuple[int, int, int]
    unit: str
    cost: Callable[[Child, int], float]
    costs: dict[int, list[float]] = field(default_factory=dict[int, list[float]])

    def measure_sizes(self, child: Child, *, is_odd: bool) -> None:
        """Measure each size once, in reverse order in odd rounds."""
        for size in self.sizes[:: -1 if is_odd else 1]:
            self.costs.setdefault(size, []).append(self.cost(child, size))

    def figures(self) -> list[Figure]:
        """Return the ratio of each doubling within its round, and the cost of the largest size."""
        short, middle, long = (self.costs[size] for size in self.sizes)
        largest = f"CPU of {self.sizes[2]:,} {self.unit}"
        return [
            Figure(self.row, "first doubling", _ratios(middle, short), "×", alike="growth"),
            Figure(self.row, "second doubling", _ratios(long, middle), "×", alike="growth"),
            Figure(self.row, largest, tuple(1000 * spent for spent in long), "ms"),
        ]


def _ratios(doubled: Sequence[float], single: Sequence[float]) -> tuple[float, ...]:
    return tuple(more / less for more, less in zip(doubled, single, strict=True))


class Growth:
    """The rows `grow-…`; each has a fresh server."""

    def __init__(self, rig: Rig, *, quick: bool) -> None:
        self._rig = rig
        self._fewest = 100 if quick else 250

    def rows(self) -> dict[str, Callable[[int], list[Figure]]]:
        """Return the function that measures each row, in the order in which they run."""
        return {
            "grow-arguments": self._arguments,
            "grow-previews": self._previews,
            "grow-answer": self._answer,
            "grow-calls": self._calls,
            "grow-history": self._history,
            "grow-conversation": self._conversation,
            "grow-conversations": self._conversations,
            "grow-journal": self._journal,
        }

    def _arguments(self, rounds: int) -> list[Figure]:
        return self._rounds(
            "grow-arguments", (250_000, 500_000, 1_000_000), "bytes", self._answer_cost("longargs"), rounds=rounds
        )

    def _previews(self, rounds: int) -> list[Figure]:
        """Stream a file whose content is previewed."""

        def cost(child: Child, size: int) -> float:
            load = Load("grow-previews", f"write-{size}", size, _STREAMS)
            body = {**load.question("server"), "tools": ["write"], "previews": True}
            return self._stream_cost(child, load, body)

        sizes, upstream = (60_000, 120_000, 240_000), self._rig.python_upstream()
        return self._rounds("grow-previews", sizes, "bytes previewed", cost, rounds=rounds, upstream=upstream)

    def _answer(self, rounds: int) -> list[Figure]:
        return self._rounds("grow-answer", (10_000, 20_000, 40_000), "events", self._answer_cost("fast"), rounds=rounds)

    def _calls(self, rounds: int) -> list[Figure]:
        sizes = (250, 500, 1_000)
        return self._rounds(
            "grow-calls",
            sizes,
            "calls",
            self._answer_cost("calls"),
            rounds=rounds,
            upstream=self._rig.python_upstream(),
        )

    def _history(self, rounds: int) -> list[Figure]:
        def cost(child: Child, size: int) -> float:
            load = Load("grow-history", "fast-1", 1, 4)
            body = {**load.question("server"), "messages": _turns(size)}
            return self._stream_cost(child, load, body)

        return self._rounds("grow-history", (1_000, 2_000, 4_000), "messages", cost, rounds=rounds)

    def _conversation(self, rounds: int) -> list[Figure]:
        """Ask in a stored conversation with `size` messages."""

        def cost(child: Child, size: int) -> float:
            load = Load("grow-conversation", "fast-1", 1, 4)
            return self._stream_cost(child, load, _question(f"long-{size}"))

        def prepare(child: Child) -> None:
            for size in (1_000, 2_000, 4_000):
                body = {"model": "bench/fast-1", "messages": _turns(size - 1), "conversation_id": f"long-{size}"}
                _post(child, CHAT, body)

        return self._rounds(
            "grow-conversation", (1_000, 2_000, 4_000), "messages kept", cost, rounds=rounds, prepare=prepare
        )

    def _conversations(self, rounds: int) -> list[Figure]:
        """Ask a question and list a page while the number of conversations grows; the sizes run in ascending order."""
        sizes = (self._fewest, 2 * self._fewest, 4 * self._fewest)
        child = self._rig.server("many")
        asked = DoubledLoad("grow-conversations", sizes, "conversations, one question", lambda child, size: 0.0)
        listed = DoubledLoad("grow-list", sizes, "conversations, one page", lambda child, size: 0.0)
        load = Load("grow-conversations", "fast-1", 1, 20)
        have = 0
        for size in sizes:
            print_status(f"grow-conversations: {size}")
            _create_conversations(child, range(have, size))
            have = size
            time.sleep(SETTLE)
            for place in range(max(rounds, 3)):
                asked.costs.setdefault(size, []).append(
                    self._stream_cost(child, load, _question(f"one-{size}-{place}"))
                )
                listed.costs.setdefault(size, []).append(_get_cost(child, "/api/conversations?limit=50", 20))
        self._rig.end(child)
        return [*asked.figures(), *listed.figures()]

    def _journal(self, rounds: int) -> list[Figure]:
        """Read the events of finished runs from disk."""
        sizes = (10_000, 20_000, 40_000)
        runs: dict[int, str] = {}

        def prepare(child: Child) -> None:
            for size in sizes:
                runs[size] = _post(child, CHAT, {"model": f"bench/fast-{size}", "prompt": "Go on."})
            time.sleep(SETTLE)

        def cost(child: Child, size: int) -> float:
            return _get_cost(child, f"/api/runs/{runs[size]}/events", 2)

        return self._rounds("grow-journal", sizes, "events", cost, rounds=rounds, prepare=prepare)

    def _answer_cost(self, script: str) -> Callable[[Child, int], float]:
        """Return a function that measures answers of `script` at a given size."""

        def cost(child: Child, size: int) -> float:
            load = Load(f"grow {script}", f"{script}-{size}", size, _STREAMS)
            return self._stream_cost(child, load, load.question("server"))

        return cost

    def _rounds(
        self,
        row: str,
        sizes: tuple[int, int, int],
        unit: str,
        cost: Callable[[Child, int], float],
        *,
        rounds: int,
        prepare: Callable[[Child], None] | None = None,
        upstream: Child | None = None,
    ) -> list[Figure]:
        print_status(row)
        child = self._rig.server(row, upstream=upstream)
        load_sizes = DoubledLoad(row, sizes, unit, cost)
        if prepare is not None:
            prepare(child)
        cost(child, sizes[0])  # warm-up
        for number in range(rounds):
            load_sizes.measure_sizes(child, is_odd=number % 2 == 1)
        self._rig.end(child)
        return load_sizes.figures()

    def _stream_cost(self, child: Child, load: Load, body: dict[str, Any]) -> float:
        """Run a load and return the CPU seconds per stream, including the flush after it."""
        before = child.cpu()
        outcome = self._rig.run_client(child, load, body, load.streams, CHAT)
        if outcome.failed:
            raise RuntimeError(f"{load.row}: a stream failed, so the row has no figures")
        time.sleep(SETTLE)
        return (child.cpu() - before) / load.streams


def _question(conversation: str) -> dict[str, Any]:
    return {"model": "bench/fast-1", "prompt": "Go on.", "conversation_id": conversation}


def _turns(number: int) -> list[dict[str, str]]:
    """Return `number` messages, or one more so that the last is a user message."""
    turns = [{"role": ("user", "assistant")[place % 2], "content": f"{place}: {_WORDS}"} for place in range(number)]
    return turns if number % 2 else [*turns, {"role": "user", "content": "Go on."}]


def _create_conversations(child: Child, numbers: range) -> None:
    """Create a conversation with one question and its answer for each number."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: _post(child, CHAT, _question(f"kept-{number}")), numbers))


def _post(child: Child, path: str, body: dict[str, Any]) -> str:
    """Ask a question, read the entire answer, and return the run's id."""
    connection = http.client.HTTPConnection("127.0.0.1", child.port, timeout=_TIMEOUT)
    try:
        connection.request("POST", path, orjson.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200 or b'"status":"complete"' not in text:
            raise RuntimeError(f"the question was not answered: {answer.status} {text[-500:]!r}")
        return answer.getheader("x-run-id") or ""
    finally:
        connection.close()


def _get_cost(child: Child, path: str, times: int) -> float:
    """Return the CPU seconds of one GET request."""
    connection = http.client.HTTPConnection("127.0.0.1", child.port, timeout=_TIMEOUT)
    before = child.cpu()
    try:
        for _ in range(times):
            connection.request("GET", path)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200 or len(text) < 100:
                raise RuntimeError(f"{path} was not answered: {answer.status} {text[-500:]!r}")
    finally:
        connection.close()
    return (child.cpu() - before) / times
