"""Settings, from the environment and `.env`; no other module reads these."""

import os
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit

from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from signalbox.app.asgi.public_addresses import check_frame_ancestors, check_hosts, check_origins, check_root_path
from signalbox.app.limits.rate_windows import read_rates
from signalbox.app.settings.env_file import check_syntax
from signalbox.app.settings.errors import InvalidValues, SettingsError, check_names, place_of, sentence_of
from signalbox.app.settings.flag_provider import FlagProviderSettings
from signalbox.app.settings.metrics import MetricsSettings
from signalbox.app.settings.search import SearchSettings
from signalbox.app.settings.shadow import ShadowSettings
from signalbox.app.settings.sign_in import SignInSettings
from signalbox.app.settings.webhooks import WebhookSettings
from signalbox.services.addresses import Allowance
from signalbox.wire.dialects import HOSTS

__all__ = [
    "DATA_SETTINGS",
    "OPENROUTER",
    "FixedSettings",
    "InvalidValues",
    "Settings",
    "SettingsError",
    "load_settings",
    "unknown_in_environment",
    "unknown_in_file",
    "workers_wanted",
]

# Prefixes of our settings, and the similarity from which a name counts as a typo of a setting.
_OUR_PREFIXES = ("signalbox", "openrout", "tool_loop")
_TYPO_CUTOFF = 0.86
OPENROUTER = HOSTS["openrouter"].base_url

# Settings of `signalbox backup`, `restore` and `token`: an invalid value of another setting must not stop them.
DATA_SETTINGS = frozenset({"signalbox_data_dir", "signalbox_notes_dir", "database_url"})


class Settings(FlagProviderSettings, SearchSettings, SignInSettings, MetricsSettings, WebhookSettings, ShadowSettings):
    """Every setting; an empty value counts as not set. Raises SettingsError for invalid values and unknown names."""

    model_config = SettingsConfigDict(env_file_encoding="utf-8", extra="ignore", env_ignore_empty=True, frozen=True)

    openrouter_api_key: SecretStr | None = None
    openrouter_base_url: str = OPENROUTER
    openrouter_http_referer: str | None = None
    openrouter_x_title: str = "Signalbox"
    openrouter_timeout: float = Field(default=120.0, gt=0, le=3600)
    openrouter_progress_timeout: float = Field(default=900.0, gt=0, le=3600)
    openrouter_connect_timeout: float = Field(default=10.0, gt=0, le=120)
    signalbox_upstreams: Path | None = None
    tool_loop_v2: bool | None = None
    signalbox_allow_loop_header: bool = False
    signalbox_image_model: str | None = Field(default=None, max_length=256)
    signalbox_chromium: str | None = None
    signalbox_chromium_sandbox: bool = True
    signalbox_docs: Path | None = None
    signalbox_notes_dir: Path | None = None
    signalbox_fetch_allow: Annotated[tuple[str, ...], NoDecode] = ()
    signalbox_data_dir: Path = Path("data")
    database_url: SecretStr | None = None
    signalbox_lease_seconds: float = Field(default=15.0, ge=1, le=600)
    signalbox_admin_token: SecretStr | None = None
    signalbox_access_token: SecretStr | None = None
    signalbox_require_token: bool = False
    signalbox_host: str = "127.0.0.1"
    signalbox_port: int = Field(default=8000, ge=0, le=65535)
    signalbox_root_path: str | None = None
    signalbox_allowed_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    signalbox_allowed_origins: Annotated[tuple[str, ...], NoDecode] = ()
    signalbox_frame_ancestors: Annotated[tuple[str, ...], NoDecode] = ()
    signalbox_default_model: str | None = None
    signalbox_server_tools: Literal["auto", "always", "never"] = "auto"
    signalbox_max_body_mb: float = Field(default=8.0, gt=0, le=256)
    signalbox_max_runs: int = Field(default=1000, ge=1)
    signalbox_max_runs_per_user: int | None = Field(default=None, ge=1)
    signalbox_max_streams: int = Field(default=4000, ge=1)
    signalbox_max_streams_per_user: int | None = Field(default=None, ge=1)
    signalbox_rate_limit: str | None = None
    signalbox_max_run_cost: float | None = Field(default=None, gt=0)
    signalbox_max_run_mb: float = Field(default=64.0, gt=0)
    signalbox_retention_days: float | None = Field(default=None, gt=0)
    signalbox_detached_seconds: float = Field(default=300.0, ge=0)
    signalbox_drain_seconds: float = Field(default=20.0, ge=0, le=3600)
    signalbox_simulator_pace: float = Field(default=0.012, ge=0, le=5)
    signalbox_log_level: str = Field(default="info", pattern="^(debug|info|warning|error)$")
    signalbox_log_format: Literal["json", "console"] = "json"

    if not TYPE_CHECKING:  # type checkers know the settings as keywords, which this signature would hide

        def __init__(self, **given: Any) -> None:
            check_names(given, [*type(self).model_fields, *signature(BaseSettings.__init__).parameters])
            try:
                super().__init__(**given)
            except ValidationError as error:
                faults = {str(one["loc"][0]): one for one in error.errors()}
            else:
                return
            sentences = {name: sentence_of(name, one, is_public=_is_public(name)) for name, one in faults.items()}
            raise InvalidValues(sentences, place_of(sentences, given))

    @field_validator(
        *("signalbox_allowed_hosts", "signalbox_allowed_origins", "signalbox_frame_ancestors", "signalbox_fetch_allow"),
        mode="before",
    )
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(item.strip() for item in value.split(",") if item.strip()) if isinstance(value, str) else value

    @field_validator("openrouter_base_url", "searxng_url", "brave_base_url", "tavily_base_url", "scrapingbee_base_url")
    @classmethod
    def _is_url(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            parts = urlsplit(value)
            _, _ = parts.port, (parts.hostname or "").encode("idna")
        except ValueError:  # its message is dropped, because it may quote a password
            raise ValueError("must be a URL whose host is a name or an address, with a port up to 65535") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must be a URL that begins with http:// or https://")
        return value.rstrip("/") or None

    @field_validator("database_url")
    @classmethod
    def _is_postgres(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and urlsplit(value.get_secret_value()).scheme not in ("postgresql", "postgres"):
            raise ValueError("takes postgresql://USER:PASSWORD@HOST/NAME; leave it empty for SQLite in the data folder")
        try:
            _ = urlsplit(value.get_secret_value()).port if value is not None else None
        except ValueError:  # its message is dropped, because it quotes the text after the colon: part of the password
            raise ValueError("has a port that is no number; write / in a password as %2F, @ as %40, : as %3A") from None
        return value

    @field_validator("signalbox_rate_limit")
    @classmethod
    def _is_rate(cls, value: str | None) -> str | None:
        if value is not None:
            read_rates(value)
        return value

    @field_validator(
        *("openrouter_api_key", "brave_api_key", "tavily_api_key", "product_json_key", "scrapingbee_api_key"),
        *("signalbox_admin_token", "signalbox_access_token"),
    )
    @classmethod
    def _is_header_text(cls, value: SecretStr | None) -> SecretStr | None:
        text = value.get_secret_value() if value else "x"
        if not text.isascii() or not text.isprintable() or " " in text:
            raise ValueError("must be one word of printable ASCII")
        return value

    @field_validator("openrouter_http_referer", "openrouter_x_title")
    @classmethod
    def _is_header(cls, value: str | None) -> str | None:
        if value is not None and not (value.isascii() and value.isprintable()):
            raise ValueError("is sent in a header and must be one line of printable ASCII")
        return value

    @field_validator("signalbox_fetch_allow")
    @classmethod
    def _are_reachable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        Allowance.of(value)
        return value

    @field_validator("signalbox_allowed_hosts")
    @classmethod
    def _are_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        check_hosts(value)
        return value

    @field_validator("signalbox_allowed_origins")
    @classmethod
    def _are_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        check_origins(value)
        return value

    @field_validator("signalbox_frame_ancestors")
    @classmethod
    def _may_frame(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        check_frame_ancestors(value)
        return value

    @field_validator("signalbox_root_path")
    @classmethod
    def _is_root_path(cls, value: str | None) -> str | None:
        if value is not None:
            check_root_path(value := value.rstrip("/"))
        return value or None

    @property
    def secrets(self) -> list[str]:
        """Every key, token and password that is set; none may appear in a log, a response or a trace."""
        values = (getattr(self, name) for name in type(self).model_fields)
        found = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
        if self.database_url is not None:
            parts = urlsplit(self.database_url.get_secret_value())
            passwords = [parts.password, *parse_qs(parts.query).get("password", ())]
            found += [form for password in passwords if password for form in (password, unquote(password))]
        return found

    def variable(self, name: str) -> str | None:
        """Return a variable of the environment or of `.env`, which may be a key of these settings."""
        key = getattr(self, name.lower()) if name.lower() in type(self).model_fields else None
        return os.environ.get(name) or (key.get_secret_value() if isinstance(key, SecretStr) else None)

    @property
    def is_simulated(self) -> bool:
        """Whether the simulator answers: no key or file is set, and the upstream is OpenRouter, which needs a key."""
        if self.openrouter_api_key is not None or self.signalbox_upstreams is not None:
            return False
        host = urlsplit(self.openrouter_base_url).hostname or ""
        return host == "openrouter.ai" or host.endswith(".openrouter.ai")

    @property
    def only_upstream(self) -> str:
        """The name of the upstream in metrics and logs if no file configures several."""
        if self.is_simulated:
            return "simulator"
        return "openrouter" if self.openrouter_base_url == OPENROUTER else "default"


class FixedSettings(Settings):
    """Settings that are given in code alone: the environment and `.env` do not count."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read the arguments only."""
        del settings_cls, env_settings, dotenv_settings, file_secret_settings  # of the library's signature
        return (init_settings,)


def load_settings(env_file: Path | None = Path(".env"), *, only: Collection[str] | None = None) -> Settings:
    """Load the settings, and export other variables of `.env` to the environment, for plugins.

    Raises SettingsError with a sentence for each invalid value. With `only`, an invalid value of any other setting
    counts as not set.
    """
    if env_file is not None:
        check_syntax(env_file)
    settings = _load(env_file, only)
    if env_file is not None:
        _export_others(env_file)
    return settings


def _load(env_file: Path | None, only: Collection[str] | None) -> Settings:
    try:
        return Settings(_env_file=env_file)  # pyright: ignore[reportCallIssue] - pydantic-settings' own parameter
    except InvalidValues as error:
        invalid = error.by_name
    if only is None or not invalid.keys().isdisjoint(only):
        raise InvalidValues({name: one for name, one in invalid.items() if only is None or name in only})
    unused = {name: Settings.model_fields[name].default for name in invalid}
    return Settings(_env_file=env_file, **unused)  # pyright: ignore[reportCallIssue] - as above


def _is_public(name: str) -> bool:
    """Return whether a setting's value cannot contain a secret. A URL may contain a password."""
    is_url = name.endswith(("_url", "_issuer", "_referer", "_origins", "_ancestors"))
    return not is_url and "SecretStr" not in str(Settings.model_fields[name].annotation)


def _export_others(env_file: Path) -> None:
    """Export variables of `.env` that are neither settings nor typos of settings; existing variables win."""
    others = {
        name: value for name, value in dotenv_values(env_file).items() if name.lower() not in Settings.model_fields
    }
    typos = _unknown(others, set(Settings.model_fields))
    for name, value in others.items():
        if value and name not in typos:
            os.environ.setdefault(name, value)


def workers_wanted() -> int:
    """Return the number of workers from WEB_CONCURRENCY, which uvicorn defines."""
    wanted = os.environ.get("WEB_CONCURRENCY", "")
    return int(wanted) if wanted.isdecimal() else 1


def unknown_in_file(env_file: Path = Path(".env")) -> dict[str, str | None]:
    """Return names in `.env` that look like settings but are none, each with the setting that it is a typo of."""
    return _unknown(dotenv_values(env_file), set(Settings.model_fields))


def unknown_in_environment() -> dict[str, str | None]:
    """Return the same for the environment, where names like DATABASE_URI may belong to other programs."""
    return _unknown(sorted(os.environ), set(Settings.model_fields) - {"database_url"})


def _unknown(names: Iterable[str], settings: set[str]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name in names:
        lower = name.lower()
        if lower in Settings.model_fields:
            continue
        near = get_close_matches(lower, settings, n=1, cutoff=_TYPO_CUTOFF)
        if near or lower.startswith(_OUR_PREFIXES):
            found[name] = near[0].upper() if near else None
    return found
