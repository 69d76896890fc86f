"""Checks the upstream: the key, whether it is accepted, and its remaining credit."""

import asyncio
from urllib.parse import urlsplit

from signalbox.app.config import Settings
from signalbox.app.upstreams.setup import upstream_of
from signalbox.commands.doctor.finding import Finding, fail, ok, warn
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.services.http.client import HttpClient
from signalbox.services.upstream import UpstreamClient
from signalbox.wire.dialect import Account, Upstream

SECONDS = 5.0
_LOW = 1.0  # dollars


async def check_key(settings: Settings, client: HttpClient) -> list[Finding]:
    """Fetch the key's account if the upstream has accounts, else its models."""
    if settings.is_simulated:
        words = "No key is set, so the built-in simulator answers."
        return [warn("key", words, "Put OPENROUTER_API_KEY=... into .env to use real models.")]
    upstream = upstream_of(settings, settings.openrouter_base_url)
    where = host_of(settings.openrouter_base_url)
    try:
        async with asyncio.timeout(SECONDS):
            return [await _check_upstream(UpstreamClient(client, upstream), upstream, where)]
    except TimeoutError:
        words = f"{where} does not answer within {SECONDS:g} s."
        return [fail("key", words, "Check the network, the proxy settings and OPENROUTER_BASE_URL.")]
    except UpstreamError as error:
        return [fail("key", f"{where}: {error.message}", error.todo)]


async def _check_upstream(service: UpstreamClient, upstream: Upstream, where: str) -> Finding:
    try:
        if (account := await service.account()) is not None:
            return account_finding(account, where)
    except UpstreamError as error:
        if error.code is not Code.UPSTREAM_NOT_FOUND:
            raise
    count = len(await service.models())
    has_key = "accepts the key" if upstream.api_key else "answers without a key"
    if not count:
        return warn(
            "key", f"{where} {has_key} but lists no models.", "Load a model there, or send requests with a model id."
        )
    return ok("key", f"{where} {has_key} and lists {count:,} model{'' if count == 1 else 's'}.")


def account_finding(account: Account, where: str, about: str = "key") -> Finding:
    """Return the finding about an account whose key was accepted."""
    spent = f"; ${account.spent:,.2f} spent so far" if account.spent is not None else ""
    if account.left is None:
        return ok(about, f"{where} accepts the key, which has no spending limit{spent}.")
    words = f"{where} accepts the key; ${max(account.left, 0):,.2f} left{spent}."
    if account.left <= 0:
        return fail(about, words, "Raise the key's limit, or set another key.")
    return warn(about, words, "Raise the key's limit soon.") if account.left < _LOW else ok(about, words)


def host_of(url: str) -> str:
    """Return the host and port of a URL, without a password."""
    parts = urlsplit(url)  # not its netloc, which may hold a password
    return f"{parts.hostname}:{parts.port}" if parts.port else f"{parts.hostname}"
