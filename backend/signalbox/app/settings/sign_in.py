"""Settings of sign-in: an OpenID Connect provider, or headers of a trusted proxy."""

import re
from ipaddress import ip_network
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode

from signalbox.core.security.people import rules_of

# RFC 9110: the characters of a header's name.
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# Headers that clients or Signalbox use for something else.
_TAKEN = frozenset({"authorization", "cookie", "host", "origin", "x-api-key", "x-csrf-token", "x-forwarded-for"})
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
List = Annotated[tuple[str, ...], NoDecode]


class SignInSettings(BaseSettings):
    """Settings of sign-in; `app/sign_in/setup.py` checks which belong together."""

    signalbox_oidc_issuer: str | None = None
    signalbox_oidc_client_id: str | None = Field(default=None, max_length=512)
    signalbox_oidc_client_secret: SecretStr | None = None
    signalbox_oidc_scopes: str = "openid profile email"
    signalbox_oidc_users: List = ()
    signalbox_oidc_operators: List = ()
    signalbox_oidc_groups_claim: str = "groups"
    signalbox_session_hours: float = Field(default=12.0, gt=0, le=720)
    signalbox_proxy_user_header: str | None = None
    signalbox_proxy_email_header: str | None = None
    signalbox_proxy_groups_header: str | None = None
    signalbox_proxy_operators: List = ()
    signalbox_trusted_proxies: List = ()

    @field_validator(
        *("signalbox_oidc_users", "signalbox_oidc_operators", "signalbox_proxy_operators", "signalbox_trusted_proxies"),
        mode="before",
    )
    @classmethod
    def _split_list(cls, value: object) -> object:
        return tuple(item.strip() for item in value.split(",") if item.strip()) if isinstance(value, str) else value

    @field_validator("signalbox_oidc_issuer")
    @classmethod
    def _is_issuer(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            parts = urlsplit(value)
            _ = parts.port
        except ValueError:
            raise ValueError("must be a URL with a valid host and port") from None
        if parts.query or parts.fragment or parts.username is not None or not parts.hostname:
            raise ValueError("must be the provider's issuer URL, without a query and without a user")
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
            raise ValueError("must begin with https:// (http:// only for a provider on this machine)")
        return value

    @field_validator("signalbox_oidc_client_secret")
    @classmethod
    def _is_secret(cls, value: SecretStr | None) -> SecretStr | None:
        text = value.get_secret_value() if value else "x"
        if not (text.isascii() and text.isprintable()):
            raise ValueError("must be printable ASCII")
        return value

    @field_validator("signalbox_oidc_scopes")
    @classmethod
    def _are_scopes(cls, value: str) -> str:
        if "openid" not in value.split():
            raise ValueError("must contain openid, as in: openid profile email")
        return " ".join(value.split())

    @field_validator("signalbox_oidc_users", "signalbox_oidc_operators", "signalbox_proxy_operators")
    @classmethod
    def _are_rules(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        rules_of(value)
        return value

    @field_validator("signalbox_proxy_user_header", "signalbox_proxy_email_header", "signalbox_proxy_groups_header")
    @classmethod
    def _is_header_name(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if not _HEADER.fullmatch(value):
            raise ValueError("must be the name of a header, like x-forwarded-user")
        if value.lower() in _TAKEN:
            raise ValueError("names a header that has another meaning; choose another one, like x-forwarded-user")
        return value.lower()

    @field_validator("signalbox_trusted_proxies")
    @classmethod
    def _are_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            try:
                ip_network(one)
            except ValueError:
                raise ValueError(f"takes IP addresses and networks like 10.0.0.0/8, not {one!r}") from None
        return value
