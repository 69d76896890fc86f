"""How a run ended."""

from msgspec import Struct

from signalbox.core.events import Status
from signalbox.core.parts import Usage


class Answer(Struct, frozen=True):
    """The answer of a run: the text of the last step, and how the run ended.

    If the run completed, `status` is "complete". If the run was stopped, `status` is "cancelled". For any other
    `status`, `code` and `error` say why the run ended. `cost` is in USD. If `cost_estimated` is True, the upstream did
    not report the cost of every attempt. `cost` then includes estimates from the prices of `Upstream`, but does not
    include attempts without a price.
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
