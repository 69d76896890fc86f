"""HTTP: the only importer of FastAPI. `from signalbox.app import Settings, signalbox_app` embeds it in another app."""

from typing import TYPE_CHECKING

from signalbox.extras import require_server

if TYPE_CHECKING:
    from signalbox.app.config import Settings, SettingsError
    from signalbox.app.embedding import SignalboxApp, signalbox_app

require_server("signalbox.app")

__all__ = ["Settings", "SettingsError", "SignalboxApp", "signalbox_app"]


def __getattr__(name: str) -> object:
    """Import a public name with its first use: most commands need neither the app nor all settings."""
    if name not in __all__:
        raise AttributeError(f"module 'signalbox.app' has no attribute {name!r}")
    from signalbox.app import config, embedding

    return getattr(config if name.startswith("Settings") else embedding, name)
