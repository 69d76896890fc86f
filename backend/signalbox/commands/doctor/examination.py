"""Runs all checks side by side, and is back in time whatever one of them waits for."""

import asyncio
import sys
from collections.abc import Awaitable, Callable

from signalbox.app.config import Settings
from signalbox.app.logs.setup import configure_logs
from signalbox.commands.doctor.access import check_access
from signalbox.commands.doctor.database import check_database
from signalbox.commands.doctor.finding import Finding, fail
from signalbox.commands.doctor.folder import check_folder
from signalbox.commands.doctor.installation import check_page, check_python, read_settings
from signalbox.commands.doctor.key import check_key
from signalbox.commands.doctor.loop import check_loop
from signalbox.commands.doctor.port import check_port
from signalbox.commands.doctor.report import as_json, as_text, is_well
from signalbox.commands.doctor.searching import check_search
from signalbox.services.http.client import make_client
from signalbox.services.search import Client
from signalbox.tools.daemon_threads import DaemonThreads

# Longer than any one thing that a check waits for.
SECONDS = 8.0
_CLIENT_SECONDS = 5.0

Check = Callable[[Settings, Client], Awaitable[list[Finding]]]


def doctor(*, json: bool, host: str | None = None, port: int | None = None) -> int:
    """Print what was found; return 0, or 1 where something fails. `host` and `port` go before the settings."""
    configure_logs("error")
    findings = [check_python(), check_page()]
    settings, told = read_settings()
    findings += told
    if settings is not None:
        configure_logs("error", settings.secrets)
        findings += asyncio.run(examine(_as_served(settings, host, port)))
    sys.stdout.write(as_json(findings) if json else as_text(findings))
    return 0 if is_well(findings) else 1


def _as_served(settings: Settings, host: str | None, port: int | None) -> Settings:
    """Put what `signalbox serve` was told in place of what is set."""
    told = {"signalbox_host": host or None, "signalbox_port": port}
    return settings.model_copy(update={name: value for name, value in told.items() if value is not None})


async def examine(settings: Settings) -> list[Finding]:
    """Run the checks and return what they found, in the order in which they are listed."""
    asyncio.get_running_loop().set_default_executor(DaemonThreads())
    async with make_client(connect_timeout=_CLIENT_SECONDS, idle_timeout=_CLIENT_SECONDS) as client:
        return [one for found in await asyncio.gather(*_checks(settings, client)) for one in found]


def _checks(settings: Settings, client: Client) -> list[Awaitable[list[Finding]]]:
    checks: dict[str, Awaitable[list[Finding]]] = {
        "key": check_key(settings, client),
        "data folder": asyncio.to_thread(check_folder, settings),
        "database": check_database(settings),
        "loop": asyncio.to_thread(check_loop, settings),
        "search": check_search(settings, client),
        "port": check_port(settings),
        "access": asyncio.to_thread(check_access, settings),
    }
    return [_in_time(about, check) for about, check in checks.items()]


async def _in_time(about: str, check: Awaitable[list[Finding]]) -> list[Finding]:
    """Have every check end, and end in a finding."""
    try:
        async with asyncio.timeout(SECONDS):
            return await check
    except TimeoutError:
        words = f"This check did not come to an end within {SECONDS:g} s."
        return [fail(about, words, "See what holds it up: a disk, a name server or a network.")]
    except Exception as error:  # noqa: BLE001 - a broken check must not hide what the others found
        words = f"This check broke ({type(error).__name__})."
        return [fail(about, words, "Report it as a fault of Signalbox.")]
