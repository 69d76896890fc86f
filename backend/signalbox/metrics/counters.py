"""The port through which the server counts what belongs to no run; it ignores everything while metrics are off."""


class Counters:
    """Counts events of the server; this base class ignores them. The methods return at once and must not raise."""

    def request_refused(self, status: int, code: str | None) -> None:
        """Count a response with an error status and its code."""

    def run_resumed(self, result: str) -> None:
        """Count a request for the events of an existing run: `streamed`, `nothing_left`, or the code of the error."""

    def override_stored(self, state: str) -> None:
        """Count a change of the override of the feature flag."""

    def database_failed(self, code: str) -> None:
        """Count a failed transaction."""

    def journal_flushed(self, seconds: float) -> None:
        """Observe how long a flush of the journal took."""

    def shadow_finished(self, model: str, loop: str, outcome: str, cost: float) -> None:
        """Count a run of shadow mode and its cost in USD."""


NO_COUNTERS = Counters()
