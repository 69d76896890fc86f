"""What a check comes to: one sentence of what was found, one of what to do."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `todo` is empty where nothing is to be done."""

    about: str
    state: State
    found: str
    todo: str = ""


def ok(about: str, found: str) -> Finding:
    """Say that something is as it should be."""
    return Finding(about, "ok", found)


def warn(about: str, found: str, todo: str) -> Finding:
    """Say that something works, and may not be what was meant."""
    return Finding(about, "warn", found, todo)


def refusal(about: str, error: Exception) -> Finding:
    """Say in its own words what a start refuses; the last sentence is what to do."""
    found, _, todo = str(error).removesuffix(".").rpartition(". ")
    return fail(about, f"{found}.", f"{todo}.")


def fail(about: str, found: str, todo: str) -> Finding:
    """Say that something does not work."""
    return Finding(about, "fail", found, todo)
