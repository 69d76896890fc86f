"""Settings of the flag provider, which may choose the loop of each run."""

from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings


class FlagProviderSettings(BaseSettings):
    """Where the flag `tool_loop_v2` is evaluated; see docs/openfeature.md."""

    signalbox_flag_provider: Literal["builtin", "flagd", "openfeature"] = "builtin"
    signalbox_flag_file: Path | None = Field(default=None, validate_default=True)

    @field_validator("signalbox_flag_file")
    @classmethod
    def _is_given(cls, value: Path | None, info: ValidationInfo) -> Path | None:
        if value is None and info.data.get("signalbox_flag_provider") == "flagd":
            raise ValueError("must be the path of a file with flags, because SIGNALBOX_FLAG_PROVIDER is flagd")
        return value
