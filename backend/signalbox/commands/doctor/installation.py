"""Checks the installation: Python, the chat page, the settings."""

import platform
from collections.abc import Mapping

from signalbox import __version__
from signalbox.app.asgi.static_files import page_folder
from signalbox.app.config import (
    Settings,
    load_settings,
    unknown_in_environment,
    unknown_in_file,
)
from signalbox.app.installation import how_to_build_page, where_settings_are_listed
from signalbox.app.settings.errors import FILE_OR_ENVIRONMENT, InvalidValues, SettingsError
from signalbox.app.settings.tracing import tracing_options
from signalbox.commands.doctor.finding import Finding, fail, ok, refusal, warn

_LEFT_OUT = ok("settings", "The other checks are skipped until the settings are valid.")


def check_python() -> Finding:
    """Report the versions of Signalbox and Python."""
    return ok("python", f"Signalbox {__version__} runs on Python {platform.python_version()}.")


def check_page() -> Finding:
    """Report whether the chat page is built."""
    if page_folder() is None:
        words = "The chat page is not built; the API works without it."
        return warn("page", words, how_to_build_page())
    return ok("page", "The chat page is built.")


def read_settings() -> tuple[Settings | None, list[Finding]]:
    """Return the settings, None if they are invalid, and the findings about them."""
    try:
        settings = load_settings()
    except InvalidValues as error:
        faults = [fail("settings", fault, f"Correct it in {FILE_OR_ENVIRONMENT}.") for fault in error.by_name.values()]
        return None, [*faults, *_misnamed(), _LEFT_OUT]
    except SettingsError as error:
        return None, [refusal("settings", error), _LEFT_OUT]
    told = [*_refused_variables(), *_misnamed()]
    return settings, told or [ok("settings", "The environment and .env are valid and contain no unknown settings.")]


def _refused_variables() -> list[Finding]:
    """Report the variables of OpenTelemetry that the start would refuse."""
    try:
        tracing_options()
    except SettingsError as error:
        return [refusal("settings", error)]
    return []


def _misnamed() -> list[Finding]:
    return [
        *_names(".env", unknown_in_file(), is_ours_alone=True),
        *_names("The environment", unknown_in_environment(), is_ours_alone=False),
    ]


def _names(place: str, unknown: Mapping[str, str | None], *, is_ours_alone: bool) -> list[Finding]:
    """Report unknown settings, typos first; other names in the environment may belong to another program."""
    typos = [
        warn(
            "settings", f"{place} sets {name}, which is not a setting. Did you mean {meant}?", f"Rename it to {meant}."
        )
        for name, meant in unknown.items()
        if meant is not None
    ]
    others = ", ".join(name for name, near in unknown.items() if near is None)
    if not others:
        return typos
    words = f"{place} sets {others}, which is not a setting and is ignored."
    todo = f"Look up its name in {where_settings_are_listed()}, or remove it."
    return [*typos, warn("settings", words, todo) if is_ours_alone else ok("settings", words)]
