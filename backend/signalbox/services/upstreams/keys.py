"""Reads API keys from where upstreams.toml says: an environment variable, or a file."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

Variable = Callable[[str], str | None]
"""Returns the value of an environment variable."""

_LARGEST_KEY_FILE = 64 * 1024


class KeyFault(ValueError):
    """A key cannot be used; the message is a clause that says why and does not contain the key."""


def read_key(source: str, variable: Variable, folder: Path) -> str:
    """Return the key of `env:NAME` or `file:PATH`, a path below `folder` unless it is absolute; raises KeyFault."""
    kind, _, name = source.partition(":")
    key = _of_variable(name, variable) if kind == "env" else _of_file(name, folder)
    if not key.isascii() or not key.isprintable() or " " in key:
        raise KeyFault(f"the key in {name} must be one word of printable ASCII")
    return key


def open_file(path: Path) -> BinaryIO:
    """Open a regular file; raises OSError for anything else. Opening a pipe would wait until something is written."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    mode = os.fstat(number).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(number, "rb")
    os.close(number)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, "it is not a regular file")


def _of_variable(name: str, variable: Variable) -> str:
    key = (variable(name) or "").strip()
    if not key:
        raise KeyFault(f"the environment variable {name} is not set; set it to the API key, or remove this line")
    return key


def _of_file(name: str, folder: Path) -> str:
    try:
        with open_file(folder / name) as file:
            data = file.read(_LARGEST_KEY_FILE + 1)
        key = data.decode().strip()
    except UnicodeDecodeError:
        raise KeyFault(f"the key file {name} is not UTF-8") from None
    except OSError as error:
        raise KeyFault(f"the key file {name} cannot be read: {error.strerror}") from None
    except ValueError:  # a null byte in the path
        raise KeyFault("file: takes the path of a file") from None
    if len(data) > _LARGEST_KEY_FILE:
        raise KeyFault(f"the key file {name} is larger than {_LARGEST_KEY_FILE // 1024} KiB")
    if not key:
        raise KeyFault(f"the key file {name} is empty")
    return key
