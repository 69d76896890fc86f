"""The two formats of a log line: JSON for collectors, and `console` for people."""

from typing import Literal, TypeAlias

import orjson
from structlog.typing import EventDict

LogFormat: TypeAlias = Literal["json", "console"]

_LEVEL_WIDTH = 8
_EVENT_WIDTH = 24
# They begin the line in this order.
_FIRST = ("timestamp", "level", "event")


def as_json(line: EventDict) -> str:
    """Return a line as JSON."""
    try:
        return orjson.dumps(line, default=_name_of_type).decode()
    except TypeError:  # a lone surrogate, as in a file name that is not UTF-8
        clean = {name: repr(value).encode("ascii", "backslashreplace").decode() for name, value in line.items()}
        return orjson.dumps(clean).decode()


def as_console(line: EventDict) -> str:
    """Return a line as words and `name=value`, in one line; fields without a value are left out."""
    time, level, event = (str(line.get(name, "")) for name in _FIRST)
    fields = [f"{name}={_shown(value)}" for name, value in line.items() if name not in _FIRST and value is not None]
    return f"{time} {level.upper():<{_LEVEL_WIDTH}} {_shown(event):<{_EVENT_WIDTH}} {' '.join(fields)}".rstrip()


def _shown(value: object) -> str:
    """Return a word as it is, and everything else as JSON: a line break or a control character cannot fake a line."""
    if isinstance(value, str) and value.isprintable() and value and not {*' "='} & {*value}:
        return value
    return as_json({"": value})[4:-1]


def _name_of_type(value: object) -> str:
    """Return the type of a value that JSON cannot hold; its repr may quote anything."""
    return f"<{type(value).__name__}>"


FORMATS = {"json": as_json, "console": as_console}
