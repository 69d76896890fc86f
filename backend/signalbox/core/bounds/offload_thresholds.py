"""Sizes from which work must leave the event loop or release the GIL."""

# Work over more bytes or characters runs in the offload thread. Below, no step takes 50 ms, and a thread switch would
# cost more than it saves.
LARGE = 32 * 1024
# The most that one call into C may process: it holds the GIL, and so blocks the event loop, until it returns.
SLICE = 64 * 1024
