"""Runs all checks concurrently, each with a timeout."""

import asyncio
import sys
from collections.abc import Awaitable

from signalbox.app.config import Settings
from signalbox.app.logs.setup import configure_logs
from signalbox.commands.doctor.access import check_access
from signalbox.commands.doctor.browser import check_browser
from signalbox.commands.doctor.database import check_database
from signalbox.commands.doctor.finding import Finding, fail
from signalbox.commands.doctor.folder import check_folder
from signalbox.commands.doctor.installation import check_page, check_python, read_settings
from signalbox.commands.doctor.key import check_key
from signalbox.commands.doctor.loop import check_loop
from signalbox.commands.doctor.metrics_port import check_metrics_port
from signalbox.commands.doctor.port import check_port
from signalbox.commands.doctor.report import all_passed, as_json, as_text
from signalbox.commands.doctor.searching import check_search
from signalbox.commands.doctor.traces import check_traces
from signalbox.commands.doctor.upstreams import check_upstreams
from signalbox.services.http.client import HttpClient
from signalbox.services.search import Client, search_client
from signalbox.tools.daemon_threads import DaemonThreads

# Longer than any single timeout inside a check.
SECONDS = 8.0
_CLIENT_SECONDS = 5.0


def doctor(*, json: bool, host: str | None = None, port: int | None = None) -> int:
    """Print the report; return 0, or 1 if a check fails. `host` and `port` override the settings."""
    configure_logs("error")
    findings = [check_python(), check_page()]
    settings, told = read_settings()
    findings += told
    if settings is not None:
        configure_logs("error", settings.secrets)
        findings += asyncio.run(examine(_as_served(settings, host, port)))
    sys.stdout.write(as_json(findings) if json else as_text(findings))
    return 0 if all_passed(findings) else 1


def _as_served(settings: Settings, host: str | None, port: int | None) -> Settings:
    """Return the settings with the host and port of the command line."""
    told = {"signalbox_host": host or None, "signalbox_port": port}
    return settings.model_copy(update={name: value for name, value in told.items() if value is not None})


async def examine(settings: Settings) -> list[Finding]:
    """Run the checks and return their findings in a fixed order."""
    asyncio.get_running_loop().set_default_executor(DaemonThreads())
    client = HttpClient(connect_timeout=_CLIENT_SECONDS, idle_timeout=_CLIENT_SECONDS)
    async with client, search_client() as searching:
        return [one for found in await asyncio.gather(*_checks(settings, client, searching)) for one in found]


def _checks(settings: Settings, client: HttpClient, searching: Client) -> list[Awaitable[list[Finding]]]:
    checks: dict[str, Awaitable[list[Finding]]] = {
        **_upstream_checks(settings, client),
        "data folder": asyncio.to_thread(check_folder, settings),
        "database": check_database(settings),
        "loop": asyncio.to_thread(check_loop, settings),
        "search": check_search(settings, searching),
        "browser": check_browser(settings),
        "port": check_port(settings),
        "metrics": check_metrics_port(settings),
        "traces": check_traces(),
        "access": asyncio.to_thread(check_access, settings),
    }
    return [_in_time(about, check) for about, check in checks.items()]


def _upstream_checks(settings: Settings, client: HttpClient) -> dict[str, Awaitable[list[Finding]]]:
    if settings.signalbox_upstreams is not None:
        return {"upstreams": check_upstreams(settings, settings.signalbox_upstreams)}
    return {"key": check_key(settings, client)}


async def _in_time(about: str, check: Awaitable[list[Finding]]) -> list[Finding]:
    """Run one check; a timeout or an exception becomes a finding."""
    try:
        async with asyncio.timeout(SECONDS):
            return await check
    except TimeoutError:
        words = f"This check did not finish within {SECONDS:g} s."
        return [fail(about, words, "Check whether a disk, a name server or the network is slow.")]
    except Exception as error:  # noqa: BLE001 - a broken check must not hide what the others found
        words = f"This check failed with an internal error ({type(error).__name__})."
        return [fail(about, words, "Report it as a bug of Signalbox.")]
