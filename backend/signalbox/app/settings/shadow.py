"""Settings of shadow mode."""

from pydantic import Field
from pydantic_settings import BaseSettings


class ShadowSettings(BaseSettings):
    """Which share of the runs is made again on the other loop, and what that may cost; see docs/shadow-mode.md."""

    signalbox_shadow_percent: float = Field(default=0.0, ge=0, le=100)
    signalbox_shadow_daily_cost: float = Field(default=1.0, gt=0)
