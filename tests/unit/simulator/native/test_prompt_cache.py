"""The cache of prompts finds equal prefixes that were stored at a breakpoint."""

from signalbox.simulator.native.prompt_cache import LOOKBACK, MAX_ENTRIES, Block, CacheUse, PromptCache

LONG = b"x" * 8000  # 2,000 tokens
SHORT = b"y" * 400  # 100 tokens


def test_a_growing_conversation_reads_its_beginning() -> None:
    """The second request reads what the first has stored, and stores what it adds."""
    cache = PromptCache()
    first = [Block(LONG), Block(SHORT, breakpoint=True)]
    assert cache.use("m", first) == CacheUse(read=0, written=2100, rest=0)
    longer = [Block(LONG), Block(SHORT), Block(SHORT, breakpoint=True), Block(SHORT)]
    assert cache.use("m", longer) == CacheUse(read=2100, written=100, rest=100)


def test_a_changed_prefix_is_not_read() -> None:
    """One byte, another order or another model makes another prompt."""
    cache = PromptCache()
    cache.use("m", [Block(LONG, breakpoint=True)])
    assert cache.use("m", [Block(LONG[:-1] + b"z", breakpoint=True)]).read == 0
    assert cache.use("other", [Block(LONG, breakpoint=True)]).read == 0
    assert cache.use("m", [Block(SHORT), Block(LONG, breakpoint=True)]).read == 0


def test_short_and_unmarked_prompts_are_not_stored() -> None:
    """A prefix needs 1,024 tokens and a breakpoint."""
    cache = PromptCache()
    assert cache.use("m", [Block(SHORT, breakpoint=True)]) == CacheUse(0, 0, 100)
    assert cache.use("m", [Block(LONG)]) == CacheUse(0, 0, 2000)
    assert cache.use("m", []) == CacheUse(0, 0, 0)
    assert not cache.seen


def test_limits() -> None:
    """A breakpoint looks back a few blocks, and the oldest prefixes are dropped."""
    cache = PromptCache()
    cache.use("m", [Block(LONG, breakpoint=True)])
    far = [Block(LONG), *[Block(SHORT)] * LOOKBACK, Block(SHORT, breakpoint=True)]
    assert cache.use("m", far).read == 0
    for at in range(MAX_ENTRIES):
        cache.use(str(at), [Block(LONG, breakpoint=True)])
    assert len(cache.seen) == MAX_ENTRIES
    assert cache.use("m", [Block(LONG, breakpoint=True)]).read == 0
