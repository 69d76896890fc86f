"""Settings of metrics."""

from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode


class MetricsSettings(BaseSettings):
    """Where metrics can be read; if neither a port nor a token is set, nothing is measured."""

    signalbox_metrics_port: int | None = Field(default=None, ge=0, le=65535)
    signalbox_metrics_host: str = "127.0.0.1"
    signalbox_metrics_token: SecretStr | None = None
    signalbox_metrics_models: Annotated[tuple[str, ...], NoDecode] = ()

    @field_validator("signalbox_metrics_models", mode="before")
    @classmethod
    def _split_models(cls, value: object) -> object:
        return tuple(item.strip() for item in value.split(",") if item.strip()) if isinstance(value, str) else value

    @field_validator("signalbox_metrics_token")
    @classmethod
    def _is_metrics_token(cls, value: SecretStr | None) -> SecretStr | None:
        text = value.get_secret_value() if value else "x"
        if not text.isascii() or not text.isprintable() or " " in text:
            raise ValueError("must be one word of printable ASCII")
        return value

    @property
    def has_metrics(self) -> bool:
        """Whether a setting makes the metrics readable."""
        return self.signalbox_metrics_port is not None or self.signalbox_metrics_token is not None
