"""What PostgreSQL's refusals mean: which of them pass, and what a person is told when the server cannot start."""

import socket
from typing import Any

from signalbox.store.engines.asyncpg_types import is_misuse

# Classes of SQLSTATE that the same words meet again, however often they are said: values that do not fit (22), rows
# that must not be (23), words that are not understood or not allowed (0A, 21, 42), and what is too large (54).
# All others pass: a server that ends or starts (57, 08), stands by (25), is full (53) or deadlocked (40).
_LASTING = ("0A", "21", "22", "23", "42", "54")
# What another transaction was in the way of: nothing of this one is kept, and it may be said again at once.
_IN_THE_WAY = ("40001", "40P01")

_SENTENCES = {
    "28P01": "the password is wrong, or there is no such user",
    "28000": "it lets this user in from nowhere, or not from here",
    "3D000": "there is no database of that name",
    "42501": "this user may not make tables in it",
    "53300": "all its connections are taken",
    "57P03": "it is still starting, or ending",
    "25006": "it only reads: it stands by for another server",
    "53100": "its disk is full",
}


def sqlstate(error: BaseException | None) -> str:
    """Return the code that the server gave, empty where it gave none."""
    said: Any = getattr(error, "orig", None) or error
    return getattr(said, "sqlstate", None) or ""


def _cause(error: BaseException) -> BaseException:
    """Return what asyncpg raised, out of what SQLAlchemy made of it."""
    said: Any = getattr(error, "orig", None)
    return getattr(said, "__cause__", None) or error


def is_lasting(error: Exception) -> bool:
    """Whether the database refuses this however often it is asked."""
    return sqlstate(error)[:2] in _LASTING or is_misuse(_cause(error))


def was_in_the_way(error: Exception) -> bool:
    """Whether another transaction kept this one from its end."""
    return sqlstate(error) in _IN_THE_WAY


def reason(error: BaseException) -> str:
    """Say in a clause why a database cannot be used; it quotes nothing that the server or the URL said."""
    if known := _SENTENCES.get(sqlstate(error)):
        return known
    match _cause(error):
        case TimeoutError():
            return "it does not answer"
        case socket.gaierror():
            return "its host is not known"
        case ConnectionRefusedError():
            return "nothing listens there"
        case FileNotFoundError():
            return "there is no socket of it in that folder"
        case ValueError():
            return "DATABASE_URL is not understood"
        case _:
            return ""
