"""Bounds on the size and depth of data, and the sizes from which work must leave the event loop."""
