"""Converts the request of each client protocol into an Ask; no I/O."""
