"""Call ids that every provider accepts."""

import re
from hashlib import blake2b

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PAIRS = [first + second for second in _ALPHABET for first in _ALPHABET]
# The place values of the digits: four pairs, and one single digit.
_PLACES: list[int] = [len(_PAIRS) ** place for place in range(4)]
_LAST_PLACE: int = len(_PAIRS) ** 4
# Nine letters and digits satisfy Mistral (exactly that), Anthropic, OpenAI (40) and the Responses API (64): quirk A16.
UNIVERSAL = re.compile(r"[A-Za-z0-9]{9}")


def make_call_id(*seed: object) -> str:
    """Make an id of nine letters and digits. The same seed gives the same id, which keeps prompt cache prefixes."""
    number = int.from_bytes(blake2b("\0".join(map(str, seed)).encode(), digest_size=8).digest(), "big")
    pairs = [_PAIRS[number // place % len(_PAIRS)] for place in _PLACES]
    return "".join(pairs) + _ALPHABET[number // _LAST_PLACE % len(_ALPHABET)]
