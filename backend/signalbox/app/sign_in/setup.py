"""Makes sign-in from the settings, and rejects settings that do not belong together."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, TypeAlias

from signalbox.app.access import HostUser
from signalbox.app.config import Settings, SettingsError
from signalbox.app.shared_settings import sign_in_secret_from
from signalbox.app.sign_in.proxy_users import ProxyUsers, networks_of
from signalbox.app.sign_in.sessions import Sessions
from signalbox.core.security.people import ClaimRule, rules_of
from signalbox.extras import how_to_install
from signalbox.services.http.client import HttpClient
from signalbox.store.database import Database

if TYPE_CHECKING:
    from signalbox.services.oidc.code_flow import CodeFlow

Method: TypeAlias = Literal["oidc", "proxy"]
_CONNECT_SECONDS, _IDLE_SECONDS, _CONNECTIONS = 5, 10, 20
# setting → settings that have no effect without it
_NEEDED_BY = {
    "signalbox_oidc_issuer": (
        *("signalbox_oidc_client_id", "signalbox_oidc_client_secret"),
        *("signalbox_oidc_users", "signalbox_oidc_operators"),
    ),
    "signalbox_proxy_user_header": (
        *("signalbox_trusted_proxies", "signalbox_proxy_email_header"),
        *("signalbox_proxy_groups_header", "signalbox_proxy_operators"),
    ),
}


@dataclass(slots=True)
class Provider:
    """Sign-in at an OpenID Connect provider. `users` are the rules of who may sign in; without rules, everyone may."""

    users: tuple[ClaimRule, ...]
    operators: tuple[ClaimRule, ...]
    groups_claim: str
    sessions: Sessions
    secret: bytes = field(default=b"", repr=False)
    _flow: "CodeFlow | None" = None

    @property
    def flow(self) -> "CodeFlow":
        """The code flow; available once the server has started."""
        assert self._flow is not None, "sign-in is not open yet"
        return self._flow

    async def open(self, settings: Settings, database: Database, stack: AsyncExitStack) -> None:
        """Start; `stack` closes it. The provider is called only when somebody signs in. Raises SettingsError."""
        from signalbox.services.oidc.code_flow import CodeFlow, Registration  # Authlib takes 100 ms to import

        http = HttpClient(connect_timeout=_CONNECT_SECONDS, idle_timeout=_IDLE_SECONDS, max_connections=_CONNECTIONS)
        stack.push_async_callback(http.aclose)
        secret = settings.signalbox_oidc_client_secret
        registration = Registration(
            settings.signalbox_oidc_issuer or "",
            settings.signalbox_oidc_client_id or "",
            secret.get_secret_value() if secret else None,
            settings.signalbox_oidc_scopes,
        )
        self._flow = CodeFlow(registration, http)
        self.secret = await sign_in_secret_from(settings, database)


@dataclass(frozen=True, slots=True)
class SignIn:
    """How people sign in, if at all: by a session, or by the headers of a proxy."""

    provider: Provider | None = None
    proxy: ProxyUsers | None = None

    @property
    def method(self) -> Method | None:
        """The name of the method."""
        if self.provider is not None:
            return "oidc"
        return "proxy" if self.proxy is not None else None

    @property
    def session_user(self) -> HostUser | None:
        """The function that identifies callers by their session."""
        return self.provider.sessions.caller_of if self.provider is not None else None

    @property
    def proxy_user(self) -> HostUser | None:
        """The function that identifies callers by headers of the proxy."""
        return self.proxy.caller_of if self.proxy is not None else None

    async def open(self, settings: Settings, database: Database, stack: AsyncExitStack) -> None:
        """Start what sign-in needs; raises SettingsError."""
        if self.provider is not None:
            await self.provider.open(settings, database, stack)


def sign_in_of(
    settings: Settings,
    database: Callable[[], Database],
    *,
    is_embedded: bool = False,
    host_user: HostUser | None = None,
) -> SignIn:
    """Return how people sign in; raises SettingsError. `database` is called when a session is used."""
    check_sign_in(settings)
    issuer, user_header = settings.signalbox_oidc_issuer, settings.signalbox_proxy_user_header
    if host_user is not None and (issuer or user_header):
        name = "SIGNALBOX_OIDC_ISSUER" if issuer else "SIGNALBOX_PROXY_USER_HEADER"
        raise SettingsError(f"{name} and owner_of both identify users. Leave one of them out.")
    if user_header is not None:
        if is_embedded:
            raise SettingsError(
                "SIGNALBOX_PROXY_USER_HEADER cannot be used in another app, because the proxy's address is not known "
                "there. Pass owner_of to signalbox_app instead."
            )
        return SignIn(proxy=_proxy_users(settings, user_header))
    return SignIn(provider=_provider(settings, database)) if issuer else SignIn()


def has_sign_in(settings: Settings) -> bool:
    """Return whether people sign in, so that requests without a token or a login are rejected."""
    return settings.signalbox_oidc_issuer is not None or settings.signalbox_proxy_user_header is not None


def check_sign_in(settings: Settings) -> None:
    """Raise SettingsError for settings of sign-in that do not belong together, or lack a package."""
    issuer, user_header = settings.signalbox_oidc_issuer, settings.signalbox_proxy_user_header
    if issuer and user_header:
        raise SettingsError(
            "SIGNALBOX_OIDC_ISSUER and SIGNALBOX_PROXY_USER_HEADER are two ways to sign in. Leave one of them empty."
        )
    for needed, names in _NEEDED_BY.items():
        alone = [name for name in names if getattr(settings, name)]
        if alone and getattr(settings, needed) is None:
            raise SettingsError(f"{alone[0].upper()} has no effect without {needed.upper()}. Set both or none of them.")
    if issuer and not settings.signalbox_oidc_client_id:
        raise SettingsError(
            "SIGNALBOX_OIDC_ISSUER needs SIGNALBOX_OIDC_CLIENT_ID. Register this server at the provider with the "
            "redirect URI https://YOUR-HOST/auth/callback, and set the client id that it shows."
        )
    if issuer and (find_spec("authlib") is None or find_spec("joserfc") is None):
        raise SettingsError(f"SIGNALBOX_OIDC_ISSUER needs the package Authlib: {how_to_install('oidc')}.")
    if user_header and not settings.signalbox_trusted_proxies:
        raise SettingsError(
            "SIGNALBOX_PROXY_USER_HEADER needs SIGNALBOX_TRUSTED_PROXIES: the addresses of the proxies that may name "
            "users, like 127.0.0.1 or 10.0.0.0/8. From all other addresses, anyone could claim to be any user."
        )


def _provider(settings: Settings, database: Callable[[], Database]) -> Provider:
    return Provider(
        rules_of(settings.signalbox_oidc_users),
        rules_of(settings.signalbox_oidc_operators),
        settings.signalbox_oidc_groups_claim,
        Sessions(database, settings.signalbox_session_hours * 3600),
    )


def _proxy_users(settings: Settings, user_header: str) -> ProxyUsers:
    return ProxyUsers(
        user_header,
        settings.signalbox_proxy_email_header,
        settings.signalbox_proxy_groups_header,
        rules_of(settings.signalbox_proxy_operators),
        networks_of(settings.signalbox_trusted_proxies),
    )
