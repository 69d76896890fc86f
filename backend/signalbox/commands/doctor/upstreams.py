"""Checks each upstream of upstreams.toml: its key, whether it answers, and how many models it lists."""

import asyncio
from pathlib import Path

from signalbox.app.config import Settings
from signalbox.app.upstreams.setup import servers_of
from signalbox.commands.doctor.finding import Finding, fail, ok, warn
from signalbox.commands.doctor.key import account_finding, host_of
from signalbox.commands.doctor.key_format import fault_in_key
from signalbox.core.catalog import ModelFacts
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.services.upstreams.file import LoadedUpstreams, UpstreamEntry, UpstreamsFileError, read_upstreams
from signalbox.services.upstreams.keys import KeyFault, read_key
from signalbox.services.upstreams.server import Server

SECONDS = 5.0


async def check_upstreams(settings: Settings, path: Path) -> list[Finding]:
    """Check the file, then all of its upstreams concurrently. No request of these costs anything."""
    try:
        file = await asyncio.to_thread(read_upstreams, path)
    except UpstreamsFileError as error:
        return [fail("upstreams", str(error), "Correct the file; docs/upstreams.md lists its fields.")]
    keys: dict[str, str] = {}
    found: list[Finding] = []
    for entry in file.upstream:
        try:
            if entry.key is not None:
                keys[entry.name] = read_key(entry.key, settings.variable, path.parent)
        except KeyFault as fault:
            words = str(fault).partition(";")[0]
            found.append(fail(_about(entry), f"{words[:1].upper()}{words[1:]}.", _other_key(entry)))
    usable = [entry for entry in file.upstream if entry.key is None or entry.name in keys]
    found += [one for entry in usable for one in _format(entry, keys.get(entry.name))]
    servers = servers_of(settings, LoadedUpstreams(file, keys), settings.signalbox_data_dir)
    checks = [_in_time(server, settings) for server in servers if server.entry in usable]
    try:
        told = await asyncio.gather(*checks)
    finally:
        await asyncio.gather(*(server.http.aclose() for server in servers))
    return [*found, *(one for findings in told for one in findings)]


def _about(entry: UpstreamEntry) -> str:
    return f"upstream {entry.name}"


def _other_key(entry: UpstreamEntry) -> str:
    kind, _, name = (entry.key or "").partition(":")
    if not name:
        return f"Set key of the upstream {entry.name!r} in upstreams.toml, such as env:API_KEY."
    return f"Put this upstream's API key into {'the file ' if kind == 'file' else ''}{name}."


def _format(entry: UpstreamEntry, key: str | None) -> list[Finding]:
    fault = fault_in_key(key, entry.base_url) if key else None
    return [warn(_about(entry), f"The API key {fault}.", _other_key(entry))] if fault else []


async def _in_time(server: Server, settings: Settings) -> list[Finding]:
    entry = server.entry
    about, where = _about(entry), host_of(entry.base_url)
    unreachable = f"Check base_url and proxy of the upstream {entry.name!r} in upstreams.toml, and the network."
    try:
        async with asyncio.timeout(SECONDS):
            return await _check(server, about, where, settings)
    except TimeoutError:
        return [fail(about, f"{where} does not answer within {SECONDS:g} s.", unreachable)]
    except UpstreamError as error:
        todo = error.todo
        if error.code is Code.UPSTREAM_AUTH:
            todo = _other_key(entry)
        elif error.code in (Code.UPSTREAM_UNREACHABLE, Code.UPSTREAM_NOT_FOUND, Code.UPSTREAM_PROTOCOL):
            todo = unreachable
        return [fail(about, f"{where}: {error.message}", todo)]


async def _check(server: Server, about: str, where: str, settings: Settings) -> list[Finding]:
    account = await _account(server, about, where)
    if account is not None and account.state == "fail":
        return [account]
    models = await _models(server)
    found = [_standing(server, about, where, models, account)]
    unpriced = _unpriced(server, models)
    if settings.signalbox_max_run_cost is not None and unpriced:
        some = ", ".join(unpriced[:3]) + (", …" if len(unpriced) > 3 else "")
        words = f"SIGNALBOX_MAX_RUN_COST does not limit runs of {_counted(len(unpriced))} without a price: {some}."
        found.append(warn(about, words, f"Add prices to the upstream {server.entry.name!r} in upstreams.toml."))
    return found


async def _account(server: Server, about: str, where: str) -> Finding | None:
    """Return the finding about the key's account, None if the upstream has no accounts."""
    try:
        account = await server.client.account()
    except UpstreamError as error:
        if error.code is not Code.UPSTREAM_NOT_FOUND:
            raise
        return None
    return account_finding(account, where, about) if account is not None else None


async def _models(server: Server) -> list[ModelFacts]:
    """Return the upstream's models; the list of the file needs no endpoint, but the upstream must answer."""
    try:
        entries = await server.client.models()
    except UpstreamError as error:
        if server.entry.listed is None or error.code is not Code.UPSTREAM_NOT_FOUND:
            raise
        return server.listed
    if server.entry.listed is not None:
        return server.listed
    read = map(server.client.dialect.facts_of, entries)
    return [facts for facts in read if facts is not None]


def _standing(server: Server, about: str, where: str, models: list[ModelFacts], account: Finding | None) -> Finding:
    """Return what the upstream answers, and how many of its models clients can request."""
    entry = server.entry
    served = [facts for facts in models if entry.models_of(facts.id)]
    words = account.found if account else f"{where} {'accepts the key' if entry.key else 'answers without a key'}."
    who = "The file" if entry.listed is not None else "It"
    words = f"{words} {who} lists {_counted(len(models))}"
    if not models:
        return warn(about, f"{words}.", "Load a model there, or send requests with a model id.")
    if not served:
        return warn(about, f"{words}, none of which its patterns match.", "Correct models of this upstream.")
    words = f"{words}." if len(served) == len(models) else f"{words}, and its patterns match {len(served):,} of them."
    return warn(about, words, account.todo) if account and account.state == "warn" else ok(about, words)


def _counted(count: int) -> str:
    return f"{count:,} model{'' if count == 1 else 's'}"


def _unpriced(server: Server, models: list[ModelFacts]) -> list[str]:
    """Return the ids of clients whose costs cannot be known."""
    if server.client.dialect.reports_costs:
        return []
    entry = server.entry
    unpriced = [facts for facts in models if facts.prices is None]
    return [model for facts in unpriced for model in entry.models_of(facts.id)[:1] if entry.prices_of(model) is None]
