"""Checks of what is installed: Python, the built page, and settings that can be read."""

import platform

from signalbox import __version__
from signalbox.app.config import Settings, SettingsError, load_settings, misspelt, misspelt_around
from signalbox.app.doctor.finding import Finding, fail, ok, warn
from signalbox.app.files import page_folder


def check_python() -> Finding:
    """Say what runs."""
    return ok("python", f"Signalbox {__version__} runs on Python {platform.python_version()}.")


def check_page() -> Finding:
    """Say whether the chat page was built."""
    if page_folder() is None:
        words = "The chat page is not built; the API works without it."
        return warn("page", words, "Run ./just start in the repository, or install with pip install .")
    return ok("page", "The chat page is built.")


def read_settings() -> tuple[Settings | None, list[Finding]]:
    """Return the settings, None where they cannot be used, and what is to be said of them."""
    try:
        settings = load_settings()
    except SettingsError as error:
        found, _, todo = str(error).removesuffix(".").rpartition(". ")
        return None, [fail("settings", f"{found}. Everything that needs them is left out here.", f"{todo}.")]
    found = {".env": misspelt(), "the environment": misspelt_around()}
    told = [
        warn(
            "settings",
            f"No setting reads what {place} sets as {', '.join(names)}.",
            "Look for the right name in .env.example, or remove it.",
        )
        for place, names in found.items()
        if names
    ]
    return settings, told or [ok("settings", "Environment and .env can be read, and every name of ours is a setting.")]
