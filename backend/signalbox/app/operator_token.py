"""The operator token: set by the operator, or generated once and stored in a file that only its owner can read."""

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
    """The token; `file` holds a generated one, and is None for one from the settings."""

    value: str
    file: Path | None = None


def admin_token(settings: Settings, data_folder: Path) -> AdminToken:
    """Return the operator token, generated at the first start; raises SettingsError if it cannot be stored."""
    if settings.signalbox_admin_token is not None:
        return AdminToken(settings.signalbox_admin_token.get_secret_value())
    file = data_folder / FILE
    with _explained(file):
        return AdminToken(_stored(file) or _generated(file), file)


def check_stored_token(settings: Settings, data_folder: Path) -> None:
    """Raise the SettingsError that a start would raise for the stored token; changes nothing."""
    if settings.signalbox_admin_token is None and data_folder.is_dir():
        with _explained(file := data_folder / FILE):
            _load(file)


@contextmanager
def _explained(file: Path) -> Generator[None]:
    """Convert an error of the token's file to a SettingsError."""
    try:
        yield
    except OSError as error:
        raise SettingsError(
            f"The operator token cannot be stored in {file} ({error.strerror}). "
            "Set SIGNALBOX_ADMIN_TOKEN, or SIGNALBOX_DATA_DIR to a folder that can be written."
        ) from None
    except ValueError:
        raise SettingsError(
            f"{file} does not contain one word of printable ASCII. Remove it, and the next start generates a token."
        ) from None


def _stored(file: Path) -> str | None:
    """Return the stored token, if any, and restrict access to its file; raises ValueError as `_load` does."""
    token = _load(file)
    if token is not None and file.stat().st_mode & 0o077:  # a copy or a restore may widen the permissions
        file.chmod(0o600)
    return token or None


def _load(file: Path) -> str | None:
    """Return the content of the file, None if it is missing; raises ValueError if it cannot be a token."""
    try:
        token = file.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    if len(token.split()) > 1 or not all(sign.isprintable() for sign in token):
        raise ValueError("no header can contain this")
    return token


def _generated(file: Path) -> str:
    """Generate and store a token, or return the one that a concurrent worker has stored: a file lock decides."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+", encoding="ascii") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        token = _stored(file)
        if token is None:
            token = secrets.token_urlsafe(24)
            stream.truncate()
            stream.write(f"{token}\n")
    return token
