"""Advice that depends on how Signalbox was installed: as a repository or as a package."""

from pathlib import Path

_ROOT = Path(__file__).parents[3]


def is_repository() -> bool:
    """Return whether this runs in the repository, which has `./just` and `.env.example`."""
    return (_ROOT / "just").is_file() and (_ROOT / ".env.example").is_file()


def where_settings_are_listed() -> str:
    """Return the document that lists all settings."""
    return ".env.example" if is_repository() else "/guide/settings.md on the running server"


def how_to_build_page() -> str:
    """Return what to do if the chat page is missing."""
    if is_repository():
        return "Run ./just start."
    return "Install it again: in a clone of Signalbox, run pip install --force-reinstall '.[server]'."
