"""The loops by name."""

from signalbox.chat.loops.base import BaseLoop
from signalbox.chat.loops.legacy import LegacyLoop
from signalbox.chat.loops.v2 import V2Loop
from signalbox.core.events import LoopName

LOOPS: dict[LoopName, type[BaseLoop]] = {"v2": V2Loop, "legacy": LegacyLoop}
