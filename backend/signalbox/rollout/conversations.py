"""Which runs of a conversation count: they are alike, so a busy conversation must not decide."""

from signalbox.rollout.outcomes import METRICS, Metric, Outcome

# Time and cost depend most on the length of a conversation.
_RUNS_PER_CONVERSATION: dict[Metric, int] = {"error": 3, "interrupted": 3, "empty": 3, "first_token": 1, "cost": 1}
_MOST_RUNS = max(_RUNS_PER_CONVERSATION.values())
# The metrics for which a run counts, by the number of earlier runs of its conversation.
_COUNTED_METRICS: tuple[tuple[Metric, ...], ...] = tuple(
    tuple(metric for metric in METRICS if earlier < _RUNS_PER_CONVERSATION[metric]) for earlier in range(_MOST_RUNS + 1)
)
_NO_METRICS: frozenset[Metric] = frozenset()
_NEW = (0, _NO_METRICS)
_MOST_CONVERSATIONS = 100_000


class Conversations:
    """Counts the runs of each conversation. For each metric, its first runs count, and none after the first bad one."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, frozenset[Metric]]] = {}

    def counted_metrics(self, outcome: Outcome) -> tuple[Metric, ...]:
        """Return the metrics for which this run counts."""
        earlier, bad = self._seen.get(outcome.subject, _NEW)
        counted = _COUNTED_METRICS[min(earlier, _MOST_RUNS)]
        return tuple(metric for metric in counted if metric not in bad) if bad else counted

    def add(self, outcome: Outcome, bad: frozenset[Metric] = _NO_METRICS) -> None:
        """Count a run that was bad for these metrics."""
        if outcome.subject == outcome.run_id:
            return  # no conversation: nothing follows
        if len(self._seen) >= _MOST_CONVERSATIONS:
            del self._seen[next(iter(self._seen))]
        earlier, before = self._seen.get(outcome.subject, _NEW)
        self._seen[outcome.subject] = (earlier + 1, before | bad if bad else before)
