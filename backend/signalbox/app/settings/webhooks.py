"""Settings of webhooks."""

from typing import Annotated

from pydantic import field_validator
from pydantic_settings import BaseSettings, NoDecode

from signalbox.services.addresses import Allowance


class WebhookSettings(BaseSettings):
    """Where webhooks may be sent besides the public internet; see docs/webhooks.md."""

    signalbox_webhook_allowed_hosts: Annotated[tuple[str, ...], NoDecode] = ()

    @field_validator("signalbox_webhook_allowed_hosts", mode="before")
    @classmethod
    def _split_hosts(cls, value: object) -> object:
        return tuple(item.strip() for item in value.split(",") if item.strip()) if isinstance(value, str) else value

    @field_validator("signalbox_webhook_allowed_hosts")
    @classmethod
    def _are_reachable_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        Allowance.of(value)
        return value
