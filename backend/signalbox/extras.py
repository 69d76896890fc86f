"""Says what to install if a package of an extra is missing. Signalbox is on no package index: pip needs a clone."""

from importlib.util import find_spec

# Packages of the extra `server` that the modules of the server import. uvloop does not exist for Windows.
_SERVER_PACKAGES = (
    *("alembic", "dotenv", "fastapi", "limits", "pydantic", "pydantic_settings", "sqlalchemy", "starlette"),
    *("structlog", "uvicorn"),
)


def how_to_install(extra: str) -> str:
    """Return the command that installs Signalbox with an extra."""
    return f"in a clone of Signalbox, run pip install '.[{extra}]'"


def without_server(who: str, missing: str | None) -> str | None:
    """Return a sentence for a missing module, None if the extra `server` does not bring it."""
    package = (missing or "").partition(".")[0]
    if package not in _SERVER_PACKAGES:
        return None
    return f"{who} belongs to the server, and {package} is not installed: {how_to_install('server')}"


def require_server(who: str) -> None:
    """Raise ModuleNotFoundError with this sentence if the extra `server` is not installed."""
    missing = next((name for name in _SERVER_PACKAGES if find_spec(name) is None), None)
    if missing is not None:
        raise ModuleNotFoundError(without_server(who, missing), name=missing)
