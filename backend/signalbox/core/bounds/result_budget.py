"""The limit of characters of tool results."""

from msgspec import Struct


class ResultBudget(Struct):
    """Limits the characters of tool results per step and per run (quirk G5).

    If it is used up, a result may still have `least` characters; fewer would only make the model repeat the call.
    """

    per_step: int = 100_000
    per_run: int = 400_000
    least: int = 2_000
    _step: int = 0
    _run: int = 0

    def remaining(self) -> int:
        """Return the maximum size of the next result."""
        return max(self.least, min(self.per_step - self._step, self.per_run - self._run))

    def count(self, size: int) -> None:
        """Count the size of a result."""
        self._step += size
        self._run += size

    def begin_step(self) -> None:
        """Reset the count of the step."""
        self._step = 0
