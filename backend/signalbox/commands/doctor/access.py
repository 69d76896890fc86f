"""Checks who may ask: beyond this machine without a token, hosts and origins that are too wide."""

from urllib.parse import urlsplit

from signalbox.app.asgi.security import is_loopback
from signalbox.app.config import Settings, SettingsError
from signalbox.app.operator_token import check_kept
from signalbox.commands.doctor.finding import Finding, ok, refusal, warn
from signalbox.server.serve import token_for

_SHORTEST = 16


def check_access(settings: Settings) -> list[Finding]:
    """Say who can reach it, and what it asks of them."""
    return [_reach(settings), *_tokens(settings), *_names(settings)]


def _reach(settings: Settings) -> Finding:
    host = settings.signalbox_host
    try:
        token = token_for(settings, host)
    except SettingsError as error:
        return refusal("access", error)
    if token is not None or settings.signalbox_require_token:
        who = "this machine alone (and through a proxy on it)" if is_loopback(host) else "other machines too"
        return ok("access", f"{host} is reached from {who}, and a token is asked for.")
    if settings.signalbox_allowed_hosts:
        words = (
            f"Only this machine reaches {host}, but host names are allowed as behind a proxy, and no token is asked."
        )
        return warn(
            "access", words, "If a proxy lets others in, set SIGNALBOX_ACCESS_TOKEN or SIGNALBOX_REQUIRE_TOKEN."
        )
    return ok("access", f"Only this machine reaches {host}; no token is asked for.")


def _tokens(settings: Settings) -> list[Finding]:
    given = {
        "SIGNALBOX_ACCESS_TOKEN": settings.signalbox_access_token,
        "SIGNALBOX_ADMIN_TOKEN": settings.signalbox_admin_token,
    }
    short = [name for name, token in given.items() if token and len(token.get_secret_value()) < _SHORTEST]
    words = f"{' and '.join(short)} has fewer than {_SHORTEST} characters."
    told = [warn("tokens", words, "Use a longer one, such as openssl rand -hex 24 prints.")] if short else []
    try:
        check_kept(settings, settings.signalbox_data_dir)
    except SettingsError as error:
        told.append(refusal("tokens", error))
    return told


def _names(settings: Settings) -> list[Finding]:
    hosts = settings.signalbox_allowed_hosts
    found: list[Finding] = []
    if not is_loopback(settings.signalbox_host) and not hosts:
        words = "Browsers on other machines are refused: no host name but localhost is allowed."
        found.append(warn("hosts", words, "Put this machine's name into SIGNALBOX_ALLOWED_HOSTS."))
    if "*" in hosts:
        words = "Every host name is allowed, so a page anywhere can point its own name at this server."
        found.append(warn("hosts", words, "Name the hosts that are meant in SIGNALBOX_ALLOWED_HOSTS."))
    plain = [one for one in settings.signalbox_allowed_origins if _is_plain(one)]
    if plain:
        words = f"Pages that come over plain http may ask: {', '.join(plain)}."
        found.append(warn("origins", words, "Serve them over https, and change SIGNALBOX_ALLOWED_ORIGINS."))
    return found


def _is_plain(origin: str) -> bool:
    parts = urlsplit(origin)
    return parts.scheme == "http" and not is_loopback(parts.hostname or "")
