"""Classifies PostgreSQL errors, and describes them for an operator whose server cannot start."""

import socket
from typing import Any

from signalbox.store.engines.asyncpg_types import is_misuse

# Classes of SQLSTATE that a retry cannot fix: invalid values (22), constraint violations (23), statements that are not
# understood or not allowed (0A, 21, 42), exceeded limits (54). All others are temporary: the server stops or starts
# (57, 08), is a standby (25), is full (53), or a deadlock (40).
_LASTING = ("0A", "21", "22", "23", "42", "54")
# Serialization failure and deadlock: nothing was committed, and an immediate retry is safe.
_CONFLICTS = ("40001", "40P01")

_SENTENCES = {
    "28P01": "the password is wrong, or there is no such user",
    "28000": "this user may not connect, or not from this machine",
    "3D000": "there is no database with that name",
    "42501": "this user may not create tables in it",
    "53300": "all its connections are in use",
    "57P03": "it is starting or shutting down",
    "25006": "it is read-only: a standby of another server",
    "53100": "its disk is full",
}


def sqlstate(error: BaseException | None) -> str:
    """Return the SQLSTATE of an error, empty if it has none."""
    said: Any = getattr(error, "orig", None) or error
    return getattr(said, "sqlstate", None) or ""


def _cause(error: BaseException) -> BaseException:
    """Return the asyncpg error inside a SQLAlchemy error."""
    said: Any = getattr(error, "orig", None)
    return getattr(said, "__cause__", None) or error


def is_lasting(error: Exception) -> bool:
    """Return whether a retry cannot fix this error."""
    return sqlstate(error)[:2] in _LASTING or is_misuse(_cause(error))


def is_conflict(error: Exception) -> bool:
    """Return whether the transaction conflicted with another one."""
    return sqlstate(error) in _CONFLICTS


def reason(error: BaseException) -> str:
    """Return a clause that says why a database cannot be used; it quotes neither the server nor the URL."""
    if known := _SENTENCES.get(sqlstate(error)):
        return known
    match _cause(error):
        case TimeoutError():
            return "it does not answer"
        case socket.gaierror():
            return "its host name cannot be resolved"
        case ConnectionRefusedError():
            return "nothing listens on that port"
        case FileNotFoundError():
            return "its socket does not exist"
        case ValueError():
            return "DATABASE_URL is not valid"
        case _:
            return ""
