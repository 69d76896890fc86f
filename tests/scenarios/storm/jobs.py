"""The storm's runs, from one seed: random faults and clients, and ten streams cut at every byte."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from signalbox.simulator.families import FAMILIES
from signalbox.simulator.faults.scripted import example_ids

from tests.scenarios.cut_streams.oracle import Expected, after
from tests.scenarios.cut_streams.streams import STREAMS
from tests.scenarios.storm.tool_names import WRITES

Does = Literal["read", "dawdle", "stop", "leave", "leave at once"]
LOOPS = ("v2", "legacy")
LARGE = 10 * 1024 * 1024
PROMPTS = (
    "Hello!",
    "What time is it in Tokyo?",
    "What is 17 * 23?",
    "Search for the tool loop.",
    "Explain the contract and what time it is in Oslo.",
)
_CLIENTS: dict[Does, int] = {"read": 50, "dawdle": 5, "stop": 20, "leave": 20, "leave at once": 5}


@dataclass(frozen=True, slots=True)
class Job:
    """One run.

    `does` is what its client does after this many frames; `expected` is set if the outcome is known.
    """

    model: str
    prompt: str
    loop: str
    tools: tuple[str, ...] = ("search_web", "get_current_time", "calculate", WRITES)
    does: Does = "read"
    frames: int = 0
    goes_on: bool = False
    expected: Expected | None = None

    @property
    def body(self) -> dict[str, object]:
        on_leaving = {"on_disconnect": "continue"} if self.goes_on else {}
        return {"model": self.model, "prompt": self.prompt, "tools": [*self.tools], **on_leaving}


def jobs(seed: int, runs: int, *, share: float = 1.0, stalls: bool = True) -> list[Job]:
    """Make the storm's runs in order; `share` is the fraction of all bytes at which streams are cut."""
    rng = random.Random(seed)
    faults = ["sim", *(fault for fault in example_ids() if stalls or fault != "sim-stall")]
    made = [_any(rng, faults) for _ in range(runs)]
    made += [_large(rng) for _ in range(runs // 100)]
    made += [_cut(rng, *place) for place in places() if rng.random() < share]
    rng.shuffle(made)
    return [replace(job, prompt=f"{job.prompt} ({place})") for place, job in enumerate(made)]


def _any(rng: random.Random, faults: Sequence[str]) -> Job:
    fault = rng.choice(faults)
    (does,) = rng.choices(list(_CLIENTS), weights=list(_CLIENTS.values()))
    return Job(
        model=f"{rng.choice(list(FAMILIES))}/{fault}",
        prompt=rng.choice(PROMPTS),
        loop=rng.choice(LOOPS),
        does=does,
        frames=int(rng.expovariate(0.3)),
        goes_on=rng.random() < 0.3,
    )


def _large(rng: random.Random) -> Job:
    """Make a run with a 10 MB frame, error or body."""
    shape = rng.choice(("frame", "whole-text", "error"))
    return Job(f"hostile/{shape}-{LARGE}", "Tell me much.", rng.choice(LOOPS))


def places() -> Iterator[tuple[int, int, str, bool]]:
    """Return every cut: stream, byte, loop, whether tools are offered."""
    for number, stream in enumerate(STREAMS.values()):
        for byte in range(len(stream.raw) + 1):
            yield number, byte, "v2", True
            if not stream.has_calls:
                yield number, byte, "legacy", False
        yield from ((number, byte, "legacy", True) for byte in range(len(stream.body)))


def _cut(rng: random.Random, number: int, byte: int, loop: str, has_tools: bool) -> Job:
    """Make a run whose stream ends after a byte, cleanly or with a broken connection."""
    stream = list(STREAMS.values())[number]
    streamed = loop == "v2" or not has_tools
    vendor = stream.model.partition("/")[0]
    return Job(
        model=f"{vendor}/cut-{number}-{byte}-{rng.choice(['clean', 'broken'])}",
        prompt="Tell me.",
        loop=loop,
        tools=("search_web", WRITES) if has_tools else (),
        expected=after(stream, (stream.raw if streamed else stream.body)[:byte], streamed=streamed),
    )
