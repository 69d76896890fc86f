"""Checks the flag: TOOL_LOOP_V2, the lever, and which loop the next run gets."""

import orjson

from signalbox.app.config import Settings
from signalbox.app.shared_settings import LEVER_FILE
from signalbox.commands.doctor.finding import Finding, ok, warn
from signalbox.flags.choice import effective
from signalbox.flags.lever import Lever, lever_of


def check_lever(settings: Settings) -> list[Finding]:
    """Say what the next run uses; the lever of workers that share a database lies there, and is told with it."""
    if settings.database_url is not None:
        return []
    file = settings.signalbox_data_dir / LEVER_FILE
    try:
        kept = file.read_bytes()
    except FileNotFoundError:
        kept = None
    except OSError:
        kept = b""
    return [standing(settings, kept, str(file))]


def standing(settings: Settings, kept: bytes | None, where: str) -> Finding:
    """Say in the words of the API what the next run uses; `kept` is the lever as it is kept, None without one."""
    try:
        lever = lever_of(orjson.loads(kept)) if kept is not None else None
    except ValueError:
        words = f"{where} cannot be read, which counts as off. {effective(settings.tool_loop_v2, Lever('off'))}"
        return warn("loop", words, "Pull the lever anew (PUT /api/flags/tool_loop_v2).")
    return ok("loop", effective(settings.tool_loop_v2, lever))
