"""Webhooks with a fake clock, a receiver in the database, and a `WebhookPost` with scripted results."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from signalbox.core.operation.webhooks import Delivery, Receiver
from signalbox.services.webhook_post import Posted, WebhookPost
from signalbox.store.database import Database
from signalbox.store.webhook_deliveries import list_deliveries
from signalbox.store.webhooks import add_receiver
from signalbox.webhooks.queue import Webhooks
from signalbox.webhooks.signing import new_secret

OK, DOWN = Posted(200), Posted(503, "HTTP_STATUS")


class ScriptedPost(WebhookPost):
    """Returns its results in turn, and repeats the last one; `gate` holds requests until it is set."""

    def __init__(self, *results: Posted) -> None:
        super().__init__()
        self.results = list(results)
        self.sent: list[tuple[str, str, bytes]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Posted:
        self.sent.append((url, headers["webhook-id"], body))
        await self.gate.wait()
        return self.results.pop(0) if len(self.results) > 1 else self.results[0]


@dataclass
class Hooks:
    """One process: its webhooks, their fake clock and what they send."""

    database: Database
    post: ScriptedPost
    now: float = 1_000_000.0
    webhooks: Webhooks = field(init=False)

    def __post_init__(self) -> None:
        self.webhooks = Webhooks(self.database, self.post, clock=lambda: self.now, draw=lambda: 0.0)

    async def round(self, later: float = 0.0) -> None:
        """Let time pass, then send everything that is due, and wait for the results."""
        self.now += later
        await self.webhooks.turn()
        await self.webhooks.settle()

    async def log(self, receiver: str = "wh_1") -> list[Delivery]:
        return await self.database.read(list_deliveries, receiver, 200)

    async def only(self) -> Delivery:
        (delivery,) = await self.log()
        return delivery


async def register(database: Database, name: str = "wh_1", *events: str, active: bool = True) -> Receiver:
    """Register a receiver for these events, `run.ended` by default."""
    receiver = Receiver(name, f"https://{name}.example/", events or ("run.ended",), new_secret(), 1.0, active=active)
    await database.write(add_receiver, receiver, 50)
    return receiver
