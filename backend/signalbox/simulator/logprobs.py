"""Log probabilities of a simulated text: made up, equal for equal tokens, and in OpenAI's shape."""

from typing import Any
from zlib import crc32

from .families.chunking import tokens


def logprobs_of(text: str, alternatives: int) -> list[dict[str, Any]]:
    """Return an entry for each token of a text."""
    return [{**_entry(token), "top_logprobs": _top(token, alternatives)} for token in tokens(text)]


def choice_logprobs(text: str, refusal: str, alternatives: int | None) -> dict[str, Any] | None:
    """Return the `logprobs` of a choice, None if they are not asked for or there is no text."""
    if alternatives is None or not (text or refusal):
        return None
    return {"content": logprobs_of(text, alternatives) or None, "refusal": logprobs_of(refusal, alternatives) or None}


def _top(token: str, alternatives: int) -> list[dict[str, Any]]:
    others = (_entry(f"{token}~{number}", -10.0 - number) for number in range(1, alternatives))
    return [_entry(token), *others][:alternatives]


def _entry(token: str, logprob: float | None = None) -> dict[str, Any]:
    value = -(crc32(token.encode()) % 1000) / 1000 if logprob is None else logprob
    return {"token": token, "logprob": value, "bytes": list(token.encode())}
