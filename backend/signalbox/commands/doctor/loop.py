"""Checks the feature flag: TOOL_LOOP_V2, its override, and the loop of the next run."""

import orjson

from signalbox.app.config import Settings
from signalbox.app.shared_settings import OVERRIDE_FILE
from signalbox.commands.doctor.finding import Finding, ok, warn
from signalbox.flags.choice import describe_choice
from signalbox.flags.override import Override, override_of


def check_loop(settings: Settings) -> list[Finding]:
    """Report the loop of the next run; `check_database` reports it for workers that share a database."""
    if settings.database_url is not None:
        return []
    file = settings.signalbox_data_dir / OVERRIDE_FILE
    try:
        kept = file.read_bytes()
    except FileNotFoundError:
        kept = None
    except OSError:
        kept = b""
    return [standing(settings, kept, str(file))]


def standing(settings: Settings, kept: bytes | None, where: str) -> Finding:
    """Describe the loop of the next run as the API does; `kept` is the stored override, None without one."""
    try:
        override = override_of(orjson.loads(kept)) if kept is not None else None
    except ValueError:
        words = f"{where} cannot be read and counts as off. {describe_choice(settings.tool_loop_v2, Override('off'))}"
        return warn("loop", words, "Set the override again (PUT /api/flags/tool_loop_v2).")
    return ok("loop", describe_choice(settings.tool_loop_v2, override))
