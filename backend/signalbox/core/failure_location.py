"""The file and line of an exception, for logs that must not contain its message."""

import sys
from collections.abc import Iterator
from types import FrameType, TracebackType

_OURS = "signalbox"


def failure_location(error: BaseException) -> str:
    """Return `file:line` of the code that failed, empty if unknown.

    The location is in the first package that is neither Signalbox nor the standard library: a plugin's line is
    reported, not that of a library that it called.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    places = [(_package(frame), f"{frame.f_code.co_filename}:{line}") for frame, line in _frames(error.__traceback__)]
    foreign = next((package for package, _ in places if not _is_known(package)), _OURS)
    return next((place for package, place in reversed(places) if package == foreign), "")


def _frames(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _is_known(package: str) -> bool:
    return package == _OURS or package in sys.stdlib_module_names
