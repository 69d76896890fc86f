"""The result of a check: a sentence that states it, and one that says what to do."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `todo` is empty if there is nothing to do."""

    about: str
    state: State
    found: str
    todo: str = ""


def ok(about: str, found: str) -> Finding:
    """Return a finding that something works."""
    return Finding(about, "ok", found)


def warn(about: str, found: str, todo: str) -> Finding:
    """Return a finding that something works but may not be intended."""
    return Finding(about, "warn", found, todo)


def refusal(about: str, error: Exception) -> Finding:
    """Return an error of the start as a finding; its last sentence says what to do."""
    found, _, todo = str(error).removesuffix(".").rpartition(". ")
    return fail(about, f"{found}.", f"{todo}.")


def fail(about: str, found: str, todo: str) -> Finding:
    """Return a finding that something does not work."""
    return Finding(about, "fail", found, todo)
