"""Checks access: tokens, allowed hosts and allowed origins."""

from urllib.parse import urlsplit

from signalbox.app.asgi.security import is_loopback
from signalbox.app.config import Settings, SettingsError
from signalbox.app.operator_token import check_stored_token
from signalbox.app.sign_in.setup import check_sign_in, has_sign_in
from signalbox.commands.doctor.finding import Finding, ok, refusal, warn
from signalbox.server.serve import token_for

_SHORTEST = 16


def check_access(settings: Settings) -> list[Finding]:
    """Report who can reach the server, and whether a token is required."""
    return [_reach(settings), *_sign_in(settings), *_tokens(settings), *_names(settings)]


def _reach(settings: Settings) -> Finding:
    host = settings.signalbox_host
    try:
        token = token_for(settings, host)
    except SettingsError as error:
        return refusal("access", error)
    if token is not None or settings.signalbox_require_token or has_sign_in(settings):
        who = "only this machine (or through a proxy on it)" if is_loopback(host) else "other machines too"
        needed = "a sign-in or a token" if has_sign_in(settings) else "a token"
        return ok("access", f"{host} can be reached from {who}; {needed} is required.")
    if settings.signalbox_allowed_hosts:
        words = f"Only this machine can reach {host}; no token is required, but allowed hosts suggest a proxy."
        return warn(
            "access",
            words,
            "If a proxy forwards requests to it, set SIGNALBOX_ACCESS_TOKEN or SIGNALBOX_REQUIRE_TOKEN.",
        )
    return ok("access", f"Only this machine can reach {host}; no token is required.")


def _sign_in(settings: Settings) -> list[Finding]:
    """Report how people sign in, and who is an operator."""
    try:
        check_sign_in(settings)
    except SettingsError as error:
        return [refusal("sign-in", error)]
    if settings.signalbox_oidc_issuer is not None:
        rules = ", ".join(settings.signalbox_oidc_operators) or "none"
        found = [ok("sign-in", f"People sign in at {settings.signalbox_oidc_issuer}. Operators: {rules}.")]
        if not settings.signalbox_oidc_users:
            words = "Everyone with an account at the provider may sign in (SIGNALBOX_OIDC_USERS is not set)."
            found.append(ok("sign-in", words))
        return found
    if settings.signalbox_proxy_user_header is not None:
        proxies = ", ".join(settings.signalbox_trusted_proxies)
        return [ok("sign-in", f"Proxies at {proxies} name users in {settings.signalbox_proxy_user_header}.")]
    return []


def _tokens(settings: Settings) -> list[Finding]:
    given = {
        "SIGNALBOX_ACCESS_TOKEN": settings.signalbox_access_token,
        "SIGNALBOX_ADMIN_TOKEN": settings.signalbox_admin_token,
    }
    short = [name for name, token in given.items() if token and len(token.get_secret_value()) < _SHORTEST]
    words = f"{' and '.join(short)} has fewer than {_SHORTEST} characters."
    told = [warn("tokens", words, "Use a longer one; generate it with openssl rand -hex 24.")] if short else []
    try:
        check_stored_token(settings, settings.signalbox_data_dir)
    except SettingsError as error:
        told.append(refusal("tokens", error))
    return told


def _names(settings: Settings) -> list[Finding]:
    hosts = settings.signalbox_allowed_hosts
    found: list[Finding] = []
    if not is_loopback(settings.signalbox_host) and not hosts:
        words = "Requests from browsers on other machines are rejected: only the host name localhost is allowed."
        found.append(warn("hosts", words, "Add this machine's name to SIGNALBOX_ALLOWED_HOSTS."))
    if "*" in hosts:
        words = "Every host name is allowed, so any web page can send requests by DNS rebinding."
        found.append(warn("hosts", words, "List the intended host names in SIGNALBOX_ALLOWED_HOSTS."))
    plain = [one for one in settings.signalbox_allowed_origins if _is_plain(one)]
    if plain:
        words = f"Origins with plain http are allowed: {', '.join(plain)}."
        found.append(warn("origins", words, "Serve them over https, and change SIGNALBOX_ALLOWED_ORIGINS."))
    return found


def _is_plain(origin: str) -> bool:
    parts = urlsplit(origin)
    return parts.scheme == "http" and not is_loopback(parts.hostname or "")
