"""What is measured, and how much of it in a quick and in a full run."""

from dataclasses import dataclass
from typing import Any

from tests.bench.load import Job

SHORT = 5_000
SERVER_PATH, RELAY_PATH = "/api/chat/stream", "/api/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One kind of load. `events` are the deltas that the upstream sends per stream; `relayed`: the relay can do it too.

    A turn with tools is no copy of bytes, so the relay has no figure for it. `compared`: the server that keeps no run
    does it as well. `replayed`: what is measured is not the run, but reading it again from the disk.
    """

    name: str
    model: str
    events: int
    streams: int
    connections: int
    relayed: bool = True
    ramp: float = 0.0
    compared: bool = True
    replayed: bool = False

    @property
    def question(self) -> dict[str, Any]:
        """What is asked."""
        body: dict[str, Any] = {"model": f"bench/{self.model}", "messages": [{"role": "user", "content": "Go on."}]}
        if self.with_tools:
            body["tools"] = ["work"]
        return body

    @property
    def with_tools(self) -> bool:
        """Whether the model calls tools."""
        return self.model.startswith(("tools", "longargs"))

    def job(self, port: int, *, relay: bool = False, share: int = 1, run_id: str = "") -> Job:
        """Return the load for one target; `share`: only that part of the streams, to warm up; `run_id`: to replay."""
        streams = max(1, self.streams // share)
        body = {**self.question, "stream": True} if relay else self.question
        return Job(
            port=port,
            path=f"/api/runs/{run_id}/events" if self.replayed else RELAY_PATH if relay else SERVER_PATH,
            body=None if self.replayed else body,
            streams=streams,
            connections=min(self.connections, streams),
            frames=20 if self.with_tools else self.events,
            ending="data: [DONE]" if relay else '"status":"complete"',
            ramp=self.ramp,
        )


def scenarios(*, quick: bool) -> list[Scenario]:
    """Return the loads in the order in which each round runs them."""
    paced = 75 if quick else 200
    return [
        Scenario("burst", "burst-200", 200, 200 if quick else 400, 16),
        Scenario("paced", f"paced-50-{paced}", paced, 100, 100, ramp=0.5 if quick else 1.0),
        Scenario("tools", "tools", 204, 30 if quick else 100, 1, relayed=False),
        Scenario("args 200 KB", "longargs-200000", 10_000, 3, 1, relayed=False),
        Scenario("args 1 MB", "longargs-1000000", 50_000, 1 if quick else 3, 1, relayed=False),
        *_doubled("long", quick=quick, replayed=False),
        *_doubled("replay", quick=quick, replayed=True),
    ]


def _doubled(name: str, *, quick: bool, replayed: bool) -> list[Scenario]:
    """Return the same number of events in runs of one, two and four times the length."""
    streams = 8 if quick else 16
    return [
        Scenario(
            f"{name} {SHORT * times:,}",
            f"burst-{SHORT * times}",
            SHORT * times,
            streams // times,
            1,
            relayed=False,
            compared=False,
            replayed=replayed,
        )
        for times in (1, 2, 4)
    ]
