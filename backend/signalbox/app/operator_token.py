"""The operator's token: set by the operator, or made once and kept where only the owner can read it."""

import fcntl
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from signalbox.app.config import Settings, SettingsError

FILE = "admin-token"


@dataclass(frozen=True, slots=True)
class AdminToken:
    """The token; `file` is where a generated one is kept, None for one that was set."""

    value: str
    file: Path | None = None


def admin_token(settings: Settings, data_folder: Path) -> AdminToken:
    """Return the operator's token, making one at the first start; raises SettingsError when it cannot be kept."""
    if settings.signalbox_admin_token is not None:
        return AdminToken(settings.signalbox_admin_token.get_secret_value())
    file = data_folder / FILE
    with _told(file):
        return AdminToken(_kept(file) or _made(file), file)


def check_kept(settings: Settings, data_folder: Path) -> None:
    """Raise the SettingsError that a start would raise over the token that was kept; nothing is made or changed."""
    if settings.signalbox_admin_token is None and data_folder.is_dir():
        with _told(file := data_folder / FILE):
            _read(file)


@contextmanager
def _told(file: Path) -> Generator[None]:
    """Say in a sentence why a token cannot be kept in a file."""
    try:
        yield
    except OSError as error:
        raise SettingsError(
            f"The operator's token cannot be kept in {file} ({error.strerror}). "
            "Set SIGNALBOX_ADMIN_TOKEN, or SIGNALBOX_DATA_DIR to a folder that can be written."
        ) from None
    except ValueError:
        raise SettingsError(f"{file} does not hold one word of plain ASCII. Remove it, and a token is made.") from None


def _kept(file: Path) -> str | None:
    """Return the token that was kept, and close its file to others; raises ValueError as `_read` does."""
    token = _read(file)
    if token is not None and file.stat().st_mode & 0o077:  # a copy or a restore has opened it to others
        file.chmod(0o600)
    return token or None


def _read(file: Path) -> str | None:
    """Return what was kept, None without a file; raises ValueError for a file that holds something else."""
    try:
        token = file.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    if len(token.split()) > 1 or not all(sign.isprintable() for sign in token):
        raise ValueError("no header can hold this")
    return token


def _made(file: Path) -> str:
    """Make a token, or return the one that another worker has just made: of those who come at once, one is first."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+", encoding="ascii") as kept:
        fcntl.flock(kept, fcntl.LOCK_EX)
        token = _kept(file)
        if token is None:
            token = secrets.token_urlsafe(24)
            kept.truncate()
            kept.write(f"{token}\n")
    return token
