"""Starts the webhooks of the process."""

from contextlib import AsyncExitStack

from signalbox.app.config import Settings
from signalbox.services.addresses import Allowance
from signalbox.services.webhook_post import WebhookPost
from signalbox.store.database import Database
from signalbox.webhooks.queue import Webhooks


def open_webhooks(settings: Settings, database: Database, stack: AsyncExitStack) -> Webhooks:
    """Return the webhooks, already delivering; `stack` closes them after the runs, whose ends it still stores."""
    webhooks = Webhooks(database, WebhookPost(Allowance.of(settings.signalbox_webhook_allowed_hosts)))
    stack.push_async_callback(webhooks.aclose)
    webhooks.start()
    return webhooks
