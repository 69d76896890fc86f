"""Runs the checks of `signalbox doctor`."""

import asyncio
from pathlib import Path
from typing import Any

from signalbox.app.config import Settings
from signalbox.commands.doctor.examination import examine
from signalbox.commands.doctor.finding import Finding

from tests.support.running_app import settings_for


def examined(settings: Settings) -> dict[str, Finding]:
    """Run all checks; return the worst finding of each name."""
    found: dict[str, Finding] = {}
    for one in asyncio.run(examine(settings)):
        if one.about not in found or found[one.about].state == "ok":
            found[one.about] = one
    return found


def near(data: Path, **given: Any) -> Settings:
    """Return settings with any free port."""
    return settings_for(data, **{"signalbox_port": 0, **given})
