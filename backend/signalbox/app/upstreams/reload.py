"""Reads upstreams.toml again while the server runs."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from time import time

import structlog

from signalbox.app.config import Settings, SettingsError
from signalbox.app.upstreams.setup import read_upstreams_file, servers_of
from signalbox.core.errors import StoreError
from signalbox.core.operation.audit import SIGNAL, Actor, entry_by
from signalbox.services.upstreams.registry import Upstreams
from signalbox.store.audit import add_audit
from signalbox.store.database import Database

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class UpstreamsReload:
    """Replaces the upstreams of new runs. `hide` is called with the secrets of the file before any of them is used."""

    settings: Settings
    upstreams: Upstreams
    folder: Path
    hide: Callable[[Collection[str]], None]
    database: Database
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, actor: Actor) -> None:
        """Reload the file; raises SettingsError, and changes nothing, if it cannot be used."""
        async with self._lock:
            try:
                loaded = await asyncio.to_thread(read_upstreams_file, self.settings)
            except SettingsError as error:
                _log.error("upstreams.reload_failed", reason=str(error))
                raise
            if loaded is None:
                raise SettingsError("There is no upstreams.toml. Set SIGNALBOX_UPSTREAMS to its path, and restart.")
            self.hide(loaded.secrets)
            servers = servers_of(self.settings, loaded, self.folder, self.upstreams.servers)
            self.upstreams.replace(servers, loaded.file.route)
            names = [server.entry.name for server in servers]
            _log.info("upstreams.reloaded", upstreams=names)
            await self._audit(actor, names)

    async def run_logged(self) -> None:
        """Reload the file after a signal: an error is only logged."""
        try:
            await self.run(SIGNAL)
        except SettingsError:
            return  # logged above

    async def _audit(self, actor: Actor, names: list[str]) -> None:
        """Add an audit entry. The reload is done, so a failure of the database is only logged."""
        entry = entry_by(actor, time(), "upstreams.reloaded", {"upstreams": [*names]})
        try:
            await self.database.write(add_audit, entry)
        except StoreError:
            _log.error("audit.not_written", action=entry.action, upstreams=names)
