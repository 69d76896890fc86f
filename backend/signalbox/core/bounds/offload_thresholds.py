"""From which size on work must not hold the event loop, nor the interpreter lock."""

# From so many bytes or characters on, work that goes over each of them leaves the loop: below, no step takes 50 ms,
# and handing it over would cost a short request more than it saves.
LARGE = 32 * 1024
# What one call into C may go over: it holds the interpreter lock, and with it the loop, until it returns.
SLICE = 64 * 1024
