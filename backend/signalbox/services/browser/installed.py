"""Finds Chromium, and says why it cannot be used."""

import os
import shutil
from dataclasses import dataclass

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
OFF = ("none", "off")
SWITCHED_OFF = "SIGNALBOX_CHROMIUM switches it off"
NOT_INSTALLED = "no Chromium was found; install one, or set SIGNALBOX_CHROMIUM to its path"
_AS_ROOT = (
    "Chromium's sandbox does not work for root; run the server as another user, or set SIGNALBOX_CHROMIUM_SANDBOX=false"
)


@dataclass(frozen=True, slots=True)
class Chromium:
    """An executable file, and whether Chromium isolates its processes with its sandbox."""

    path: str
    is_sandboxed: bool = True


def find_chromium(setting: str | None, *, is_sandboxed: bool) -> Chromium | str:
    """Return Chromium, or why it cannot be used. `setting` is its path or name, or `none`."""
    if setting is not None and setting.lower() in OFF:
        return SWITCHED_OFF
    path = shutil.which(setting) if setting else next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        return f"SIGNALBOX_CHROMIUM is no executable file: {setting}" if setting else NOT_INSTALLED
    if is_sandboxed and os.geteuid() == 0:
        return _AS_ROOT
    return Chromium(path, is_sandboxed)
