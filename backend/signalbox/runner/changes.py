"""What a caller changes between two steps of a run."""

from collections.abc import Sequence

from msgspec import Struct

from signalbox.core.messages import Message


class Changes(Struct):
    """What the caller wants to be different before the next step."""

    replacement: Sequence[Message] | None = None
    appended: list[Message] = []
    is_stopped: bool = False
