"""What is measured, and how much of it in a quick and in a full run."""

from dataclasses import dataclass
from typing import Any

from tests.bench.load import Job

SERVER_PATH, RELAY_PATH = "/api/chat/stream", "/api/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One kind of load. `events` are the deltas that the upstream sends per stream; `relayed`: the relay can do it too.

    A turn with tools is no copy of bytes, so the relay has no figure for it.
    """

    name: str
    model: str
    events: int
    streams: int
    connections: int
    relayed: bool = True
    ramp: float = 0.0

    def job(self, port: int, *, relay: bool, share: int = 1) -> Job:
        """Return the load for one target; `share`: only that part of the streams, to warm up."""
        body: dict[str, Any] = {"model": f"bench/{self.model}", "messages": [{"role": "user", "content": "Go on."}]}
        streams = max(1, self.streams // share)
        if relay:
            body["stream"] = True
        elif not self.relayed:
            body["tools"] = ["work"]
        return Job(
            port=port,
            path=RELAY_PATH if relay else SERVER_PATH,
            body=body,
            streams=streams,
            connections=min(self.connections, streams),
            frames=self.events if self.relayed else 20,
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
    ]
