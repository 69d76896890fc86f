"""Reads upstreams.toml again while the server runs."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from signalbox.app.config import Settings, SettingsError
from signalbox.app.upstreams.setup import read_upstreams_file, servers_of
from signalbox.services.upstreams.registry import Upstreams

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class UpstreamsReload:
    """Replaces the upstreams of new runs. `hide` is called with the secrets of the file before any of them is used."""

    settings: Settings
    upstreams: Upstreams
    folder: Path
    hide: Callable[[Collection[str]], None]
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self) -> None:
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
            _log.info("upstreams.reloaded", upstreams=[server.entry.name for server in servers])

    async def run_logged(self) -> None:
        """Reload the file after a signal: an error is only logged."""
        try:
            await self.run()
        except SettingsError:
            return  # logged above
