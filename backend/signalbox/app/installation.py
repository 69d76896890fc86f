"""How this Signalbox was installed: from the repository or as a package. Advice names what is there in each case."""

from pathlib import Path

_ROOT = Path(__file__).parents[3]


def is_repository() -> bool:
    """Whether this runs in the repository, where `./just` and `.env.example` are."""
    return (_ROOT / "just").is_file() and (_ROOT / ".env.example").is_file()


def where_settings_are_listed() -> str:
    """Name the list of all settings."""
    return ".env.example" if is_repository() else "/guide/api.md#settings on the running server"


def how_to_build_page() -> str:
    """Say what brings the chat page."""
    return "Run ./just start." if is_repository() else "Reinstall it: pip install --force-reinstall signalbox."
