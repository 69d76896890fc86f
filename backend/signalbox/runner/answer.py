"""How a run ended."""

from msgspec import Struct

from signalbox.core.events import Status
from signalbox.core.parts import Usage


class Answer(Struct, frozen=True):
    """The end of a run: the text of its last step, and how the run ended.

    `status` is "complete", or "cancelled" after `stop`; `code` and `error` say why any other run ended. `cost` is in
    USD. `cost_estimated`: the upstream has not reported the cost of every attempt. `cost` then contains estimates by
    the prices of `Upstream`; attempts without a price are missing.
    """

    text: str
    status: Status
    code: str | None = None
    error: str = ""
    usage: Usage | None = None
    cost: float = 0.0
    cost_estimated: bool = False
    model: str | None = None
    steps: int = 0
