"""The cache of prompts: a prefix that was sent before is read from the cache, if all its bytes are equal."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..completion import estimate_tokens

MAX_ENTRIES = 1000
MINIMUM_TOKENS = 1024
LOOKBACK = 20
"""A breakpoint finds an earlier prefix that ends at most this many blocks before it."""


@dataclass(frozen=True, slots=True)
class Block:
    """One part of a prompt; a breakpoint stores the prompt up to its end."""

    text: bytes
    breakpoint: bool = False


@dataclass(frozen=True, slots=True)
class CacheUse:
    """The tokens of a prompt: read from the cache, written to it, and neither."""

    read: int
    written: int
    rest: int


@dataclass(slots=True)
class PromptCache:
    """Prefixes by digest; a bounded number, the oldest are dropped."""

    seen: dict[str, None] = field(default_factory=dict[str, None])

    def use(self, model: str, blocks: Sequence[Block]) -> CacheUse:
        """Look up a prompt, and store its prefixes that end at a breakpoint."""
        prefixes = _prefixes(model, blocks)
        total = prefixes[-1][1] if prefixes else 0
        ends = [at for at, block in enumerate(blocks) if block.breakpoint and prefixes[at][1] >= MINIMUM_TOKENS]
        if not ends:
            return CacheUse(0, 0, total)
        read = max((self._longest(prefixes, end) for end in ends), default=0)
        for end in ends:
            self.seen.pop(prefixes[end][0], None)
            self.seen[prefixes[end][0]] = None
        while len(self.seen) > MAX_ENTRIES:
            del self.seen[next(iter(self.seen))]
        last = prefixes[ends[-1]][1]
        return CacheUse(read, last - read, total - last)

    def _longest(self, prefixes: Sequence[tuple[str, int]], end: int) -> int:
        """Return the tokens of the longest stored prefix that this breakpoint finds."""
        candidates = prefixes[max(end - LOOKBACK, 0) : end + 1]
        return next((tokens for digest, tokens in reversed(candidates) if digest in self.seen), 0)


def _prefixes(model: str, blocks: Sequence[Block]) -> list[tuple[str, int]]:
    """Return the digest and the tokens of the prompt up to the end of each block."""
    digest, tokens, found = hashlib.sha256(model.encode()), 0, list[tuple[str, int]]()
    for block in blocks:
        digest.update(len(block.text).to_bytes(8, "big") + block.text)
        tokens += estimate_tokens(block.text.decode())
        found.append((digest.hexdigest(), tokens))
    return found
