"""Events of log probabilities."""

from collections.abc import Sequence

from signalbox.core.events import Logprobs
from signalbox.core.parts import TokenLogprobs


def logprobs_events(parts: Sequence[TokenLogprobs]) -> list[Logprobs]:
    """Return one event with the log probabilities of all parts, none if there are none."""
    tokens = [token for part in parts for token in part.text]
    refusal_tokens = [token for part in parts for token in part.refusal]
    return [Logprobs(tokens, refusal_tokens)] if tokens or refusal_tokens else []
